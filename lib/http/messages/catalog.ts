import type { ErrorCode, Explanations, RefusalName } from '../errors.ts';

/** The messages of a language. To add one, export `catalog` and `routes` from a file named by its tag, and run `npm run generate`. */
export interface Catalog {
  /** BCP 47 tag, sent as `Content-Language`. */
  readonly language: string;
  /** The message of each code, for errors without an explanation. */
  readonly codes: Readonly<Record<ErrorCode, string>>;
  /** The messages with field names, ids or bounds. */
  readonly explain: Explain;
}

/** Codes whose messages are in the bundle of fallback-route. */
type RouteCode = 'RouteNotFound' | 'MethodNotAllowed' | 'InternalError' | 'ServiceUnavailable';

type Explain = { readonly [K in RefusalName]: (values: Explanations[K]) => string };

/** The part of a catalog that is in the bundle of fallback-route. */
export interface RouteCatalog extends Omit<Catalog, 'codes' | 'explain'> {
  readonly codes: Readonly<Record<RouteCode, string>> & Partial<Record<ErrorCode, string>>;
  readonly explain: Pick<Explain, 'methodNotAllowed'>;
}

/** Catalogs, the default first. */
export type Catalogs<C extends RouteCatalog = RouteCatalog> = readonly [C, ...C[]];
