import type middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type { Caller } from '../auth/app-keys.ts';
import type { Deps } from '../shared/deps.ts';

/** State of one call; each middleware fills in its part. */
export interface CallState {
  readonly requestId: string;
  /** When the handler started, in Unix milliseconds. */
  readonly startedMs: number;
  /** Aborts shortly before the response is due; never on routes without I/O. */
  readonly signal: AbortSignal;
  /** Set once the app key is known to be valid. */
  caller?: Caller;
  /** Headers of the response, whether success or failure. */
  headers: Readonly<Record<string, string>>;
  /** `OK` or the error code, once the response is made. */
  code?: string;
}

/** API Gateway's event with the call's state. */
export type ApiEvent = Omit<APIGatewayProxyEvent, 'body'> & { body: unknown; call: CallState };

/** What an operation returns: the `data` of the envelope, and further headers. */
export interface Reply<Data = unknown> {
  data: Data;
  headers?: Record<string, string>;
}

/** middy's request. Its response is a {@link Reply} until the envelope makes it an HTTP response. */
export type ApiRequest = middy.Request<ApiEvent, Reply | APIGatewayProxyResult, Error, Context>;
export type ApiMiddleware = middy.MiddlewareObj<ApiEvent, Reply | APIGatewayProxyResult, Error, Context>;

type HeaderMaps = Pick<ApiEvent, 'headers' | 'multiValueHeaders'>;

/** The values of a header in one map, whose names may have any case. @param name in lower case */
const valuesIn = (headers: ApiEvent['headers'] | ApiEvent['multiValueHeaders'], name: string): string[] =>
  Object.entries(headers ?? {}).flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []));

/** All values of a header, which may be sent several times. @param name in lower case */
export function headerValuesOf({ headers, multiValueHeaders }: HeaderMaps, name: string): string[] {
  const all = valuesIn(multiValueHeaders, name);
  return all.length > 0 ? all : valuesIn(headers, name);
}

/** The value of a header that is a list; undefined when it is absent. Several such headers are one list: RFC 9110, 5.3. */
export const headerListOf = (event: HeaderMaps, name: string): string | undefined =>
  headerValuesOf(event, name).join(', ') || undefined;

/** The value of a header, or the last of several, as API Gateway gives it; undefined when it is absent. */
export const headerOf = ({ headers }: Pick<ApiEvent, 'headers'>, name: string): string | undefined =>
  valuesIn(headers, name)[0];

/**
 * Maximum time between arrival at API Gateway and the handler's start that counts against the deadline, in milliseconds. A longer time is due
 * to a cold start or to a difference between the clocks.
 */
const MAX_BEFORE_MS = 1_000;

/** Gives a call a signal that aborts `callMs` after the call arrived at API Gateway. */
export const deadlineMiddleware = ({ now, timeLimits }: Pick<Deps, 'now' | 'timeLimits'>): ApiMiddleware => ({
  before({ event }) {
    const { startedMs } = event.call;
    const arrivedMs = event.requestContext?.requestTimeEpoch ?? startedMs;
    const countsFromMs = Math.min(startedMs, Math.max(arrivedMs, startedMs - MAX_BEFORE_MS));
    const leftMs = countsFromMs + timeLimits.callMs - now();
    event.call = { ...event.call, signal: AbortSignal.timeout(Math.max(1, leftMs)) };
  },
});
