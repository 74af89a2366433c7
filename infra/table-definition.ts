/** The definition of the table, on AWS and in DynamoDB Local. Tools read it without the CDK. */
import type { KeyKind } from '../lib/table/keys.ts';

export const TABLE = {
  partitionKey: 'pk',
  sortKey: 'sk',
  /** Unix seconds after which DynamoDB may remove the row. Only rate counts, idempotency keys, audit entries and retired hosts have it. */
  timeToLive: 'ttl',
  /** The function relay needs each row as it is after the change, but not as it was before. */
  streamView: 'NEW_IMAGE',
} as const;

/** Patterns of `dynamodb:LeadingKeys` for the partition keys that `lib/table/keys.ts` builds. */
export const LEADING_KEYS = {
  accounts: 'ACCOUNTS',
  account: 'ACCOUNT#*#ACCOUNT',
  appKey: 'APP_KEY#*',
  hosts: 'ACCOUNT#*#HOSTS',
  hostStatuses: 'ACCOUNT#*#HOST_STATUSES',
  rum: 'ACCOUNT#*#RUM',
  workItems: 'ACCOUNT#*#WORK_ITEMS',
  incidents: 'ACCOUNT#*#INCIDENTS',
  alerts: 'ACCOUNT#*#ALERTS#*',
  members: 'ACCOUNT#*#MEMBERS',
  feed: 'ACCOUNT#*#FEED#*',
  log: 'ACCOUNT#*#LOG',
  merges: 'ACCOUNT#*#MERGES',
  idempotency: 'ACCOUNT#*#IDEMPOTENCY',
  rate: 'ACCOUNT#*#RATE#*',
} as const satisfies Record<KeyKind, string>;
