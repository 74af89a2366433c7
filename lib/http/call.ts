import type middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type { Caller } from '../auth/app-keys.ts';

/** State of one call; each middleware fills in its part. */
export interface CallState {
  readonly requestId: string;
  /** Unix milliseconds at which the call started. */
  readonly startedMs: number;
  /** Aborts when the time to answer is nearly over. Never, where there is nothing to wait for. */
  readonly signal: AbortSignal;
  /** Set once the app key is known to be valid. */
  caller?: Caller;
  /** Headers of the answer, whether success or failure. */
  readonly headers: Record<string, string>;
  /** Code of the answer, once it is made. */
  code?: string;
}

/** API Gateway's event with the call's state. */
export type ApiEvent = Omit<APIGatewayProxyEvent, 'body'> & { body: unknown; call: CallState };

/** What an operation answers: `data` of the envelope, and headers of its own. */
export interface Reply<Data = unknown> {
  data: Data;
  headers?: Record<string, string>;
}

/** middy's request as the chain sees it: a {@link Reply} on the way out becomes an HTTP answer in the envelope. */
export type ApiRequest = middy.Request<ApiEvent, Reply | APIGatewayProxyResult, Error, Context>;
export type ApiMiddleware = middy.MiddlewareObj<ApiEvent, Reply | APIGatewayProxyResult, Error, Context>;

type GivenHeaders = Pick<ApiEvent, 'headers' | 'multiValueHeaders'>;

/** The values of a header. @param name in lower case, whatever that of the header is in */
const headerValues = (headers: ApiEvent['headers'] | ApiEvent['multiValueHeaders'], name: string): string[] =>
  Object.entries(headers ?? {}).flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []));

/** All values of a header that was given any number of times. */
export function allValuesOf({ headers, multiValueHeaders }: GivenHeaders, name: string): string[] {
  const all = headerValues(multiValueHeaders, name);
  return all.length > 0 ? all : headerValues(headers, name);
}

/** The value of a header that is a list: RFC 9110, 5.3, joins what was given in several. */
export const listOf = (event: GivenHeaders, name: string): string | undefined =>
  allValuesOf(event, name).join(', ') || undefined;

/** The first value of a header; undefined when it is absent. */
export const headerOf = ({ headers }: Pick<ApiEvent, 'headers'>, name: string): string | undefined =>
  headerValues(headers, name)[0];
