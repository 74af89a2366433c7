import type { getRumResource, ResponseOf } from '../../http/operations.ts';
import type { Unchecked } from '../../shared/schema.ts';

type RumResource = ResponseOf<typeof getRumResource>;

/** Fields from the usage row; all others are the record's. */
export const USAGE_FIELDS = [
  'session_limit_reached',
  'session_investigate.used_cnt',
  'session_measure.used_cnt',
  'session_replay.used_cnt',
] as const;

export type RumUsage = Pick<RumResource, (typeof USAGE_FIELDS)[number]>;

declare module '../../dynamodb/keys.ts' {
  interface Rows {
    rumResource: Unchecked<Omit<RumResource, 'account_id' | keyof RumUsage>> & { deleted?: boolean };
    rumUsage: Unchecked<RumUsage>;
  }
}
