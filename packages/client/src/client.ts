import { ApiError } from './client-errors.ts';
import { randomId } from './json.ts';
import { type CallOptions, type ClientOptions, checkIdempotencyKey, type MergeOptions } from './options.ts';
import { type Answer, createTransport } from './transport.ts';
import {
  type AlertItem,
  type AlertListRequest,
  type BrowseFleetRequest,
  type FleetPage,
  type IncidentInfo,
  type IngestRecord,
  type ListIncidentsRequest,
  type MemberItem,
  type MemberListRequest,
  type MergeAlertsRequest,
  PATHS,
  type PlainMethods,
  type SendRecordsRequest,
  type ServiceMapFleetHost,
} from './types.ts';

/** Every method throws an `ApiError` on failure. */
export interface Client extends PlainMethods {
  /** The page at `cursor` and all after it; waits for the rate limit. To resume, pass a page's `next_cursor` or the error's `cursor`. */
  pages(request?: BrowseFleetRequest, options?: CallOptions): AsyncGenerator<FleetPage, void>;
  /** The hosts of all pages. */
  hosts(request?: BrowseFleetRequest, options?: CallOptions): AsyncGenerator<ServiceMapFleetHost, void>;
  /** The alerts of all pages, by default the open ones. To resume, pass the error's `cursor` as `search_after_ctx`. */
  alerts(request?: AlertListRequest, options?: CallOptions): AsyncGenerator<AlertItem, void>;
  /** The incidents of all pages. To resume, see `alerts`. */
  incidents(request?: ListIncidentsRequest, options?: CallOptions): AsyncGenerator<IncidentInfo, void>;
  /** The members of all pages. To resume, see `alerts`. */
  members(request?: MemberListRequest, options?: CallOptions): AsyncGenerator<MemberItem, void>;
  /** Records without `at_ms` get the time of this call, so that a retry changes nothing. */
  sendRecords(request: SendRecordsRequest, options?: CallOptions): ReturnType<PlainMethods['sendRecords']>;
  /**
   * Merges all of the alerts, or none. @returns whether the merge had already been done, by its idempotency key. @throws TypeError when
   * that key is invalid
   */
  mergeAlerts(request: MergeAlertsRequest, options?: MergeOptions): Promise<{ replayed: boolean }>;
}

const MAX_PAGE_SIZE = 100;

/** @throws TypeError if `url`, `appKey` or `language` is invalid */
export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options);

  /** Sends the call of a page. Its error has the cursor. */
  const sendFrom = (cursor: string | undefined, ...call: Parameters<typeof transport.send>) =>
    transport.send(...call).catch((error) => {
      if (error instanceof ApiError) error.cursor = cursor;
      throw error;
    });

  /** Makes the method that walks the pages of a list. */
  const walkOf = <Request extends { search_after_ctx?: string }, Item>(path: string) =>
    async function* walk(
      { search_after_ctx: cursor, ...request }: Request = {} as Request,
      callOptions: CallOptions = {},
    ): AsyncGenerator<Item, void> {
      do {
        const page = { limit: MAX_PAGE_SIZE, ...request, search_after_ctx: cursor };
        const { data } = await sendFrom(cursor, path, page, callOptions);
        const { items, search_after_ctx } = data as { items: Item[]; search_after_ctx?: string };
        yield* items;
        cursor = search_after_ctx;
      } while (cursor !== undefined);
    };

  async function* pages(
    request: BrowseFleetRequest = {},
    callOptions: CallOptions = {},
  ): AsyncGenerator<FleetPage, void> {
    // scan_limit is at least limit.
    const limit = request.limit ?? Math.min(MAX_PAGE_SIZE, request.scan_limit ?? MAX_PAGE_SIZE);
    let cursor = request.cursor;
    do {
      const answer = await sendFrom(cursor, PATHS.browseFleet, { ...request, limit, cursor }, callOptions);
      const freeAt = transport.now() + untilFreeMs(answer);
      const page = answer.data as FleetPage;
      cursor = page.next_cursor;
      yield page;
      const ms = freeAt - transport.now();
      if (cursor !== undefined && ms > 0)
        await transport.wait({ type: 'wait', path: PATHS.browseFleet, reason: 'rate-limit', ms }, callOptions.signal);
    } while (cursor !== undefined);
  }

  const methods = Object.fromEntries(
    Object.entries(PATHS).map(([name, path]) => [
      name,
      async (request: object = {}, callOptions?: CallOptions) =>
        (await transport.send(path, request, callOptions)).data,
    ]),
  ) as unknown as PlainMethods;

  return {
    ...methods,
    alerts: walkOf<AlertListRequest, AlertItem>(PATHS.listAlerts),
    incidents: walkOf<ListIncidentsRequest, IncidentInfo>(PATHS.listIncidents),
    members: walkOf<MemberListRequest, MemberItem>(PATHS.listMembers),
    pages,
    async *hosts(request, callOptions) {
      for await (const { items } of pages(request, callOptions)) yield* items;
    },
    sendRecords: (request, callOptions) => methods.sendRecords(withTimes(request), callOptions),
    async mergeAlerts(request, { idempotencyKey = randomId(), ...callOptions } = {}) {
      checkIdempotencyKey(idempotencyKey);
      const { headers } = await transport.send(PATHS.mergeAlerts, request, callOptions, idempotencyKey);
      return { replayed: headers.get('Idempotent-Replayed') === 'true' };
    },
    // The compiler reports an operation that is missing.
  } satisfies Client & Record<keyof typeof PATHS, unknown>;
}

/** The service would give each try the time of its own arrival: then a repeated record could undo one that came between the tries. */
function withTimes(request: SendRecordsRequest): SendRecordsRequest {
  const { records } = request;
  if (!Array.isArray(records)) return request; // which the service refuses
  const atMs = Date.now();
  const withTime = (record: IngestRecord): IngestRecord =>
    typeof record === 'object' && record !== null && !Array.isArray(record) && record.at_ms === undefined
      ? { ...record, at_ms: atMs }
      : record;
  return { ...request, records: records.map(withTime) };
}

/**
 * Milliseconds until every rate-limit window has calls left, from the draft standard's header: `"second";r=0;t=1, "minute";r=9;t=33`, where
 * `r` is the number of calls left and `t` the seconds until the window ends.
 */
function untilFreeMs({ headers }: Answer): number {
  const windows = (headers.get('RateLimit') ?? '').matchAll(/;r=(\d+);t=(\d+)/g);
  return Math.max(0, ...Array.from(windows, ([, left, seconds]) => (left === '0' ? Number(seconds) * 1_000 : 0)));
}
