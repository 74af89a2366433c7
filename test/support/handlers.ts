import type { Handler } from '../../lib/http/operation.ts';
import type { Feed } from '../../lib/ingest/queues.ts';
import { type BrowseOptions, createBrowseFleetHandler } from '../../lib/operations/browse-fleet/browse.ts';
import { createDeleteWorkItemHandler } from '../../lib/operations/delete-work-item/delete.ts';
import { createGetRumResourceHandler } from '../../lib/operations/get-rum-resource/resource.ts';
import type { OperationId } from '../../lib/operations/index.ts';
import type { MergeLimits } from '../../lib/operations/merge-alerts/alerts.ts';
import { createMergeAlertsHandler } from '../../lib/operations/merge-alerts/merge.ts';
import { createSendNotificationHandler } from '../../lib/operations/send-notification/notify.ts';
import { createSendRecordsHandler } from '../../lib/operations/send-records/send.ts';
import type { Deps } from '../../lib/shared/deps.ts';

export type Handlers = Readonly<Record<OperationId, Handler>>;

/** Options of the handlers that take any. */
export interface HandlerOptions extends MergeLimits {
  browse?: BrowseOptions;
  /** By default one that takes everything. */
  feed?: Feed;
}

const ANY_FEED: Feed = { send: async () => undefined, refuse: async () => undefined };

/** The handlers of all operations in this process, as one warm instance of each function: for tests and benchmarks. */
export const createHandlers = (deps: Deps, { browse, feed = ANY_FEED, ...limits }: HandlerOptions = {}): Handlers => ({
  browseFleet: createBrowseFleetHandler(deps, browse),
  getRumResource: createGetRumResourceHandler(deps),
  deleteWorkItem: createDeleteWorkItemHandler(deps),
  mergeAlerts: createMergeAlertsHandler(deps, limits),
  sendRecords: createSendRecordsHandler(deps, feed),
  sendNotification: createSendNotificationHandler(deps, feed),
});
