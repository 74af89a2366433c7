import type { Handler } from '../../lib/api/operation-handler.ts';
import type { OperationId } from '../../lib/api/operations.ts';
import type { Deps } from '../../lib/deps.ts';
import { type BrowseOptions, createBrowseFleetHandler } from '../../lib/fleet/browse.ts';
import { createDeleteWorkItemHandler } from '../../lib/incidents/delete-work-item.ts';
import { createMergeAlertsHandler } from '../../lib/incidents/merge-alerts.ts';
import type { Sizes } from '../../lib/incidents/relocate.ts';
import { createGetRumResourceHandler } from '../../lib/rum/resource.ts';

export type Handlers = Readonly<Record<OperationId, Handler>>;

/** Of the handlers that have some. */
export interface HandlerOptions extends Sizes {
  browse?: BrowseOptions;
}

/** The handlers of all operations in this process, as one warm instance of each function: for tests and benchmarks. */
export const createHandlers = (deps: Deps, { browse, ...sizes }: HandlerOptions = {}): Handlers => ({
  browseFleet: createBrowseFleetHandler(deps, browse),
  getRumResource: createGetRumResourceHandler(deps),
  deleteWorkItem: createDeleteWorkItemHandler(deps),
  mergeAlerts: createMergeAlertsHandler(deps, sizes),
});
