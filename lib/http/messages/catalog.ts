import type { ErrorCode, Explanations, RefusalName } from '../errors.ts';

/** One language. To add one, write a file with its tag as name that exports `catalog` and `routes`; then `npm run generate`. */
export interface Catalog {
  /** BCP 47 tag, sent as `Content-Language`. */
  readonly language: string;
  /** The default sentence of each code. */
  readonly codes: Readonly<Record<ErrorCode, string>>;
  /** The sentences that carry field names, ids or bounds. */
  readonly explain: Explain;
}

/** Codes that fallback-route can return. */
type RouteCode = 'RouteNotFound' | 'MethodNotAllowed' | 'InternalError' | 'ServiceUnavailable';

type Explain = { readonly [K in RefusalName]: (values: Explanations[K]) => string };

/** The part for fallback-route. */
export interface RouteCatalog extends Omit<Catalog, 'codes' | 'explain'> {
  readonly codes: Readonly<Record<RouteCode, string>> & Partial<Record<ErrorCode, string>>;
  readonly explain: Pick<Explain, 'methodNotAllowed'>;
}

/** Catalogues of which the first is the default. */
export type Catalogs<C extends RouteCatalog = RouteCatalog> = readonly [C, ...C[]];
