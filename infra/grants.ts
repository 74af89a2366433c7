/**
 * What each function may do with the table: exactly the actions that it uses, on the kinds of partition keys that it uses. The
 * grants of operations are in `operations.ts`. The stack makes policies of this list; a test compares it with recorded calls.
 *
 * No function has an action in two statements, since AWS does not document whether the keys of a transaction are evaluated one by
 * one or as a set. `ForAllValues`, which the conditions require, is also true for a request without a key; but none of these
 * actions works without one, and `Scan` and PartiQL, which do, are not granted.
 */
import type { Grant, KeyKind } from '../lib/dynamodb/grants.ts';
import { type ListedOperation, type OperationName, operations } from '../lib/http/operations.ts';

/** Patterns of `dynamodb:LeadingKeys`, as `lib/dynamodb/keys.ts` builds the keys. */
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
  merges: 'ACCOUNT#*#MERGES',
  idempotency: 'ACCOUNT#*#IDEMPOTENCY',
  rate: 'ACCOUNT#*#RATE#*',
} as const satisfies Record<KeyKind, string>;

/** The functions that belong to no operation. */
type OtherFunction =
  | 'finish-merges'
  | 'ingest-records'
  | 'relay'
  | 'usage-key-authorizer'
  | 'fallback-route'
  | 'openapi-document';
/** The name of a file in `functions/`, without `.ts`. */
export type FunctionName = OperationName | OtherFunction;

const OF_OPERATIONS = Object.fromEntries(
  operations.map(({ name, grants }: ListedOperation) => [name, grants]),
) as Record<OperationName, readonly Grant[]>;

export const GRANTS: Readonly<Record<FunctionName, readonly Grant[]>> = {
  ...OF_OPERATIONS,
  'finish-merges': [
    { actions: ['Query'], on: ['accounts', 'feed', 'merges'] },
    { actions: ['PutItem'], on: ['feed'] },
    { actions: ['BatchGetItem', 'UpdateItem'], on: ['alerts', 'merges'] },
  ],
  'ingest-records': [
    { actions: ['GetItem'], on: ['account'] },
    { actions: ['Query'], on: ['feed'] },
    { actions: ['PutItem'], on: ['members', 'hosts', 'rum', 'workItems', 'alerts'] },
    { actions: ['UpdateItem'], on: ['hostStatuses', 'incidents', 'alerts'] },
  ],
  relay: [{ actions: ['GetItem', 'Query'], on: ['feed'] }],
  'usage-key-authorizer': [
    { actions: ['GetItem'], on: ['appKey'] },
    { actions: ['UpdateItem'], on: ['appKey'], attributes: ['last_used_at'] },
  ],
  'fallback-route': [],
  'openapi-document': [],
};
