/**
 * What each function may do with the table: exactly the actions that it uses, on partition keys of the kinds that it
 * touches. The stack grants from this list; a test compares it with what the functions do.
 */

/** Patterns of `dynamodb:LeadingKeys`, as `lib/table/keys.ts` builds the keys. */
export const LEADING_KEYS = {
  appKey: 'APP_KEY#*',
  hosts: 'ACCOUNT#*#HOSTS',
  hostStatuses: 'ACCOUNT#*#HOST_STATUSES',
  rum: 'ACCOUNT#*#RUM',
  workItems: 'ACCOUNT#*#WORK_ITEMS',
  incidents: 'ACCOUNT#*#INCIDENTS',
  alerts: 'ACCOUNT#*#ALERTS#*',
  members: 'ACCOUNT#*#MEMBERS',
  feed: 'ACCOUNT#*#FEED#*',
  merges: 'ACCOUNT#*#MERGES',
  idempotency: 'ACCOUNT#*#IDEMPOTENCY',
  rate: 'ACCOUNT#*#RATE#*',
} as const;

export type KeyKind = keyof typeof LEADING_KEYS;
export type TableAction = 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'ConditionCheckItem';

/** One statement: actions on partition keys of some kinds. */
export interface Grant {
  readonly actions: readonly TableAction[];
  readonly on: readonly KeyKind[];
}

const findAppKey: Grant = { actions: ['GetItem'], on: ['appKey'] };

export const GRANTS: Readonly<Record<string, readonly Grant[]>> = {
  'browse-fleet': [
    findAppKey,
    { actions: ['UpdateItem'], on: ['rate'] },
    { actions: ['Query'], on: ['hosts', 'hostStatuses'] },
    { actions: ['BatchGetItem'], on: ['hostStatuses'] },
  ],
  'get-rum-resource': [findAppKey, { actions: ['GetItem', 'Query'], on: ['rum'] }],
  'delete-work-item': [findAppKey, { actions: ['UpdateItem'], on: ['workItems'] }],
  'merge-alerts': [
    findAppKey,
    { actions: ['BatchGetItem'], on: ['alerts', 'incidents', 'members', 'merges', 'idempotency'] },
    { actions: ['GetItem', 'Query', 'PutItem'], on: ['feed'] },
    { actions: ['UpdateItem'], on: ['merges'] },
    { actions: ['UpdateItem', 'ConditionCheckItem'], on: ['incidents', 'alerts'] },
    { actions: ['ConditionCheckItem'], on: ['members'] },
    { actions: ['PutItem'], on: ['idempotency'] },
  ],
  'finish-merges': [
    { actions: ['Query', 'PutItem'], on: ['feed'] },
    { actions: ['BatchGetItem', 'UpdateItem'], on: ['alerts', 'merges'] },
  ],
  'label-caller': [findAppKey],
  'refuse-route': [],
  'describe-api': [],
};
