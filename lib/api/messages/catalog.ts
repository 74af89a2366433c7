import type { ErrorCode, ExplanationName, Explanations } from '../errors.ts';

/** One language: a file that fills this in, listed in `index.ts`, is all that a further language takes. */
export interface Catalog {
  /** BCP 47 tag, sent as `Content-Language`. */
  readonly language: string;
  /** The sentence of each code when nothing more is known. */
  readonly codes: Readonly<Record<ErrorCode, string>>;
  /** The sentences that carry field names, ids or bounds. */
  readonly explain: Explain;
}

/** What such a call can be answered with. */
type RouteCode = 'RouteNotFound' | 'MethodNotAllowed' | 'InternalError' | 'ServiceUnavailable';

type Explain = { readonly [K in ExplanationName]: (values: Explanations[K]) => string };

/** What is said of calls of what is no operation. */
export interface RouteCatalog extends Omit<Catalog, 'codes' | 'explain'> {
  readonly codes: Readonly<Record<RouteCode, string>> & Partial<Record<ErrorCode, string>>;
  readonly explain: Pick<Explain, 'methodNotAllowed'>;
}
