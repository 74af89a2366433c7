/** The definition of the table, on AWS and in DynamoDB Local. Tools read it without the CDK. */
import type { KeyKind } from '../lib/table/keys.ts';

export const TABLE = {
  partitionKey: 'pk',
  sortKey: 'sk',
  /** Unix seconds after which DynamoDB may remove the row. Only rate counts, idempotency keys, audit entries, host statuses, retirements and keys of ended alerts have it. */
  timeToLive: 'ttl',
  /** The function relay tells what a change made of a row that was there. */
  streamView: 'NEW_AND_OLD_IMAGES',
} as const;

/**
 * Patterns of `dynamodb:LeadingKeys` for the partition keys of `lib/table/keys.ts` that functions may be granted.
 */
export const LEADING_KEYS = {
  accountList: 'ACCOUNTS',
  account: 'ACCOUNT#*#ACCOUNT',
  appKey: 'APP_KEY#*',
  hosts: 'ACCOUNT#*#HOSTS',
  hostStatuses: 'ACCOUNT#*#HOST_STATUSES',
  retirements: 'ACCOUNT#*#RETIREMENTS',
  rum: 'ACCOUNT#*#RUM',
  workItems: 'ACCOUNT#*#WORK_ITEMS',
  incidents: 'ACCOUNT#*#INCIDENTS',
  alerts: 'ACCOUNT#*#ALERTS#*',
  alertKeys: 'ACCOUNT#*#ALERT_KEYS#*',
  /** Of the index of open alerts. */
  openAlerts: 'ACCOUNT#*#OPEN_ALERTS#*',
  members: 'ACCOUNT#*#MEMBERS',
  history: 'ACCOUNT#*#HISTORY#*',
  log: 'ACCOUNT#*#LOG',
  logHead: 'ACCOUNT#*#LOG_HEAD',
  idempotency: 'ACCOUNT#*#IDEMPOTENCY',
  rate: 'ACCOUNT#*#RATE#*',
} as const satisfies Record<KeyKind, string>;

/** The pattern of the partition keys of audit entries, which only the operator's policy reaches. */
export const AUDIT_KEYS = 'ACCOUNT#*#AUDIT';
