import type { Deps } from '../../lib/deps.ts';
import type { Handler } from '../../lib/http/operation.ts';
import type { IngestQueue } from '../../lib/ingest/queues.ts';
import type { BrowseOptions } from '../../lib/operations/browse-fleet/handler.ts';
import { type OperationId, operationIdOf, operations } from '../../lib/operations/index.ts';
import type { MergeLimits } from '../../lib/operations/merge-alerts/move.ts';

export type Handlers = Readonly<Record<OperationId, Handler>>;

/** Options of the handlers that take any. */
interface HandlerOptions extends BrowseOptions, MergeLimits {
  /** By default one that takes everything. */
  ingestQueue?: IngestQueue;
}

const ANY_QUEUE: IngestQueue = { send: async () => undefined, refuse: async () => undefined };

/** The functions `createHandler` of all operations. The compiler checks each where `functions/NAME.ts` calls it. */
const factories = await Promise.all(
  operations.map(async ({ name }) => {
    const { createHandler } = await import(`../../lib/operations/${name}/handler.ts`);
    return [operationIdOf(name), createHandler] as const;
  }),
);

/** The handlers of all operations in this process, as one warm instance of each function: for tests and benchmarks. */
export const createHandlers = (deps: Deps, options: HandlerOptions = {}): Handlers => {
  const handlers = factories.map(([id, createHandler]) => [
    id,
    createHandler(deps, { ingestQueue: ANY_QUEUE, ...options }),
  ]);
  return Object.fromEntries(handlers);
};
