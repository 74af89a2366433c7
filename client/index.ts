/**
 * A client of the service: typed requests and answers, errors by code, waits as `Retry-After` says, hosts page after page.
 * An integer beyond 2^53 is a bigint, going in and coming out.
 */
import { randomUUID } from 'node:crypto';
import ky, { HTTPError } from 'ky';
import { parseJson, stringifyJson } from '../lib/json.ts';
import type {
  BrowseFleetRequest,
  DeleteWorkItemRequest,
  ErrorCode,
  FleetPage,
  GetRumResourceRequest,
  MergeAlertsRequest,
  RumResource,
  ServiceMapFleetHost,
} from './types.ts';

export type * from './types.ts';
export type Host = ServiceMapFleetHost;

export interface ClientOptions {
  /** Address that the operations' paths follow. */
  url: string;
  appKey: string;
  /** Of the errors' messages: `en` (default) or `zh-CN`. */
  language?: string;
  /** How often a call that is refused with 429 or 503, or gets no answer, is sent again (default 4). */
  retries?: number;
  /** Longest time to wait before sending a call again, in seconds (default 60). */
  longestWaitSeconds?: number;
}

/** A refusal of the service. Its message is the service's, and never holds the key. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly requestId: string;
  constructor(code: ErrorCode, message: string, status: number, requestId: string) {
    super(message);
    this.code = code;
    this.status = status;
    this.requestId = requestId;
  }
}

/** No answer, or none of this service. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

interface Envelope {
  request_id: string;
  data?: unknown;
  error?: { code: ErrorCode; message: string };
}

export interface Client {
  browseFleet(request?: BrowseFleetRequest): Promise<FleetPage>;
  /** All hosts that match, page after page; waits where the rate limit says so. */
  hosts(request?: Omit<BrowseFleetRequest, 'cursor'>): AsyncGenerator<Host, void>;
  getRumResource(request?: GetRumResourceRequest): Promise<RumResource>;
  deleteWorkItem(request: DeleteWorkItemRequest): Promise<Record<string, never>>;
  /** @param idempotencyKey of a merge that may have been sent before; absent: a new one, so that sending it again is safe */
  mergeAlerts(request: MergeAlertsRequest, idempotencyKey?: string): Promise<null>;
}

const RETRIED = [429, 503];
const LARGEST_PAGE = 100;

/** Every method throws {@link ServiceError} when the service refuses, {@link NoAnswerError} when there is no answer. */
export function createClient({ url, appKey, language, retries = 4, longestWaitSeconds = 60 }: ClientOptions): Client {
  const api = ky.create({
    method: 'post',
    searchParams: { app_key: appKey },
    headers: { 'Content-Type': 'application/json', ...(language && { 'Accept-Language': language }) },
    timeout: 35_000,
    retry: {
      limit: retries,
      methods: ['post'],
      statusCodes: RETRIED,
      afterStatusCodes: RETRIED,
      maxRetryAfter: longestWaitSeconds * 1_000,
    },
    hooks: { afterResponse: [readBody] },
  });

  async function call<Data>(path: string, request: object, headers: Record<string, string> = {}): Promise<Data> {
    const address = `${url.replace(/\/$/, '')}${path}`;
    const { response, text } = await api(address, { body: stringifyJson(request), headers }).then(
      async (response) => ({ response, text: await response.text() }),
      // ky's errors name the address, and with it the key: they go no further.
      async (error: unknown) => {
        if (!(error instanceof HTTPError)) throw new NoAnswerError(`no answer from ${path}`);
        const { response, data } = error as HTTPError & { data?: unknown };
        const text = response.bodyUsed
          ? typeof data === 'string'
            ? data
            : stringifyJson(data)
          : await response.text();
        return { response, text };
      },
    );
    const { data, error, request_id } = envelopeOf(text) ?? gatewayEnvelope(response, path);
    if (error) throw new ServiceError(error.code, error.message, response.status, request_id);
    return data as Data;
  }

  const browseFleet = (request: BrowseFleetRequest = {}) => call<FleetPage>('/monit/servicemap/fleet', request);
  return {
    browseFleet,
    async *hosts(request = {}) {
      // The largest page that the request allows: scan_limit is at least limit.
      const limit = Math.min(LARGEST_PAGE, Number(request.scan_limit ?? LARGEST_PAGE));
      let cursor: string | undefined;
      do {
        const page = await browseFleet({ limit, ...request, ...(cursor !== undefined && { cursor }) });
        yield* page.items;
        cursor = page.next_cursor;
      } while (cursor !== undefined);
    },
    getRumResource: (request = {}) => call('/rum/resource/info', request),
    deleteWorkItem: (request) => call('/incident/work-item/delete', request),
    mergeAlerts: (request, idempotencyKey = randomUUID()) =>
      call('/alert/merge', request, { 'Idempotency-Key': idempotencyKey }),
  };
}

/** Reads the body while the call can still be sent again: an answer that is cut off is none. */
async function readBody({ response }: { response: Response }) {
  try {
    const { status, headers } = response;
    return new Response(await response.text(), { status, headers });
  } catch {
    return ky.retry();
  }
}

function envelopeOf(text: string): Envelope | undefined {
  try {
    const envelope = parseJson(text) as Envelope;
    return typeof envelope.request_id === 'string' ? envelope : undefined;
  } catch {
    return undefined; // not JSON
  }
}

/** What API Gateway refuses for its size (above 6 MB) never has an envelope. */
function gatewayEnvelope({ status, headers }: Response, path: string): Envelope {
  if (status !== 413) throw new NoAnswerError(`what answers at ${path} is not this service`);
  const error = { code: 'EntityTooLarge', message: 'The request body is too large.' } as const;
  return { request_id: headers.get('x-amzn-requestid') ?? '', error };
}
