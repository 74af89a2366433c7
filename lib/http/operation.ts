/** What an operation is, and what its handler and the checks before it know of a call. */
import type middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type { JSONSchema } from 'json-schema-to-ts';
import type { PERMISSIONS } from '../model/account.ts';
import type { Int64, TypeOf } from '../shared/json.ts';
import type { Grant } from '../table/grant.ts';
import type { Catalog, Explanation, FieldError } from './errors.ts';

/** At most `limit` calls of one account in each window of `seconds`, counted exactly. Windows follow the clock: a minute begins at second 0. */
export interface RateWindow {
  readonly name: string;
  readonly limit: number;
  readonly seconds: number;
}

/** The usage plan's throttle of an operation that declares none: calls a second, and burst. */
export const THROTTLE = { rate: 50, burst: 100 } as const;

/**
 * Path, permission, limits, grants, schemas and documentation of an operation. A schema with a title is published under that name. Those of
 * responses allow no further fields here, so that handlers return only declared ones; the published ones do, so that fields can be added.
 */
export interface Operation {
  /** Such as `merge-alerts`: also the name of the function's file. */
  readonly name: string;
  readonly method: 'POST';
  /** `/alert/info` */
  readonly path: `/${string}`;
  /** For a list of operations, at least 16 characters: `Read an alert by its id`. */
  readonly summary: string;
  /** Markdown: what the schemas of request and response do not say. */
  readonly description: string;
  /** `Incidents` */
  readonly tag: Tag;
  /** The permission that the account needs, such as `monit`; absent: any valid key may call. */
  readonly permission?: (typeof PERMISSIONS)[number];
  /**
   * The exact limit, which the handler enforces, the shorter window first: `{ name: 'second', limit: 2, seconds: 1 }` and
   * `{ name: 'minute', limit: 30, seconds: 60 }`. Absent: only the usage plan limits calls.
   */
  readonly rateWindows?: readonly [RateWindow, RateWindow];
  /** The list in the body, such as `records`, whose items count against what an account may send to the feed, once for each KB begun; absent: none do. */
  readonly budgeted?: string;
  /** The schema of an item of that list in openapi.json, where it is no record. The operation checks each item by itself. */
  readonly itemSchema?: JSONSchema;
  /**
   * The list in the body, such as `records`, whose items the operation gets with their texts ({@link ItemText}), to check them one by one. The body may also be
   * that list alone, or have an item a line (`LINES_TYPES`).
   */
  readonly itemTexts?: string;
  /** The usage plan's throttle of each account, such as `{ rate: 20, burst: 40 }` for a costly operation; absent: {@link THROTTLE}. */
  readonly throttle?: { readonly rate: number; readonly burst: number };
  /** The largest request body, decoded, such as `4 * 1024 * 1024`; absent: that of the setting `maxBodyBytes`. */
  readonly maxBodyBytes?: number;
  /** What its function may do with the table, exactly the actions that it uses: `{ actions: ['GetItem'], on: ['appKey', 'alert'] }`. */
  readonly grants: readonly Grant[];
  /** The queues to which its function may send, such as `['ingest']`. The function finds their addresses in `INGEST_URL` and `REFUSED_URL`. */
  readonly sendsTo?: readonly QueueName[];
  /** The memory of its function, such as 1,024; absent: 512. Lambda allots CPU in proportion: one vCPU for 1,769 MB. */
  readonly memoryMb?: number;
  /**
   * Its share of the setting `reservedConcurrency`, such as 0.1 for a tenth: a guarantee, and a limit. Absent: it uses what no function has
   * reserved.
   */
  readonly concurrencyShare?: number;
  /** Whether the operation takes the query parameter `source`. */
  readonly hasSource?: boolean;
  /** Whether the operation takes an `Idempotency-Key` header. */
  readonly idempotent?: boolean;
  /** Whether its calls change the account's data: they are refused while writes are frozen. */
  readonly writes?: boolean;
  /** Schema of the body; fields with a `default` are filled in: `{ title: 'AlertInfoRequest', type: 'object', properties: { … } }`. */
  readonly request: JSONSchema & { readonly properties: object };
  /**
   * Fields of the API that the contract comes from which choose or order its items, and which it does not have: it refuses them, so that nobody
   * takes them for applied. `harmless`: values that do not matter, besides null, the empty text and the empty array. `instead`: the field to use.
   */
  readonly unsupported?: Readonly<
    Record<string, { readonly harmless?: readonly (number | boolean)[]; readonly instead?: string }>
  >;
  /** Schema of `data` in a successful response, with `additionalProperties: false` in each object. */
  readonly response: JSONSchema;
  /** Headers that only this operation's successful responses have: `['Age']`. */
  readonly headers?: readonly ('Age' | 'Content-Language')[];
  /** A request that the sample data can answer after the examples of the operations before it in the list, and the `data` of its response: `{ request: { alert_id: 'a1…' }, data: { title: 'Disk full', … } }`. */
  readonly example: { readonly request: object; readonly data: unknown };
  /**
   * Why a call that fits the schemas may be refused: openapi.json has the last one of each error code as an example. What `permission`,
   * `rateWindows` and `budgeted` refuse is among the examples anyway.
   */
  readonly refusals: readonly RefusalExample[];
}

/** The queue of the records that are sent, and that of those which were refused. */
export type QueueName = 'ingest' | 'refused';

/** The groups of operations in openapi.json. */
export type Tag = 'Monitoring' | 'RUM' | 'Incidents' | 'Feed';

type RefusalExample = Explanation & { readonly summary: string };

/** The refusal of a call for one field of its body. */
export const fieldRefusal = (summary: string, fieldError: FieldError) =>
  ({ summary, name: 'invalidFields', values: { fieldErrors: [fieldError] } }) as const;

/** The validated body of an operation, with defaults filled in. */
export type RequestOf<O extends Operation> = TypeOf<O['request']>;
/** The `data` of an operation's response. */
export type ResponseOf<O extends Operation> = TypeOf<O['response']>;

/** Who a valid key belongs to, and what that account may do. */
export interface Caller {
  readonly accountId: Int64;
  /** The first 16 hex digits of the key's hash: identifies the key without revealing it. */
  readonly appKeyId: string;
  readonly permissions: readonly string[];
  /** Signs the cursors of the account. */
  readonly cursorSecret: Uint8Array;
  /** The account's gateway key; absent until an operator has created it. */
  readonly gatewayKey?: string;
}

/** One validated call of an operation. */
export interface Call<Body> {
  readonly body: Body;
  /** The size of the body as it came, decoded. */
  readonly bodyBytes: number;
  readonly caller: Caller;
  readonly requestId: string;
  /** When API Gateway received the call, in Unix milliseconds. */
  readonly arrivedMs: number;
  /** Undefined if the caller sent none, or the operation takes none. Likewise `source`. */
  readonly idempotencyKey: string | undefined;
  readonly source?: string | undefined;
  /** Aborts shortly before the response is due. */
  readonly signal: AbortSignal;
  /** Loads the messages in the caller's language. */
  catalog(): Promise<Catalog>;
  /**
   * Rejects if the operation's exact limit refuses the call: only first reads may run before it resolves. Absent: the operation has no such
   * limit.
   */
  readonly admitted?: Promise<void>;
}

export type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** The state of one call. Each middleware adds what it knows. */
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
export type ApiEvent = Omit<APIGatewayProxyEvent, 'body'> & {
  body: unknown;
  /** The size of the body as it came, decoded, once it is parsed. */
  bodyBytes?: number;
  call: CallState;
};

/** What an operation returns: the `data` of the envelope, and further headers. */
export interface Reply<Data = unknown> {
  data: Data;
  headers?: Record<string, string>;
}

/** middy's request. Its response is a {@link Reply} until the envelope makes it an HTTP response. */
export type ApiRequest = middy.Request<ApiEvent, Reply | APIGatewayProxyResult, Error, Context>;
export type ApiMiddleware = middy.MiddlewareObj<ApiEvent, Reply | APIGatewayProxyResult, Error, Context>;
