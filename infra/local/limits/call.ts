import type { Limits, Partitions } from './capacity.ts';
import type { Engine, Json } from './engine.ts';
import type { RowsInUse } from './rows-in-use.ts';

/** One call, and what it is held to. */
export interface Call {
  readonly request: Json;
  readonly engine: Engine;
  readonly partitions: Partitions;
  readonly inUse: RowsInUse;
  readonly limits: Limits;
}
