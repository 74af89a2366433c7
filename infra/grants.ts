/**
 * What each function may do with the table: exactly the actions that it uses, on the kinds of rows that it uses. The
 * grants of operations are in their schemas. The stack makes policies of this list; a test compares it with recorded calls.
 *
 * No function has an action in two statements, since AWS does not document whether the keys of a transaction are evaluated one by
 * one or as a set. The conditions use `ForAllValues`, which is also true for a request without a key. That does no harm: every
 * granted action requires a key, and `Scan` and PartiQL, which do not, are not granted.
 */

import { type ListedOperation, type OperationName, operations } from '../lib/operations/index.ts';
import type { Grant } from '../lib/table/grant.ts';

/** The name of a file in `functions/`, without `.ts`. */
export type FunctionName =
  | OperationName
  | 'finish-merges'
  | 'ingest-records'
  | 'end-silent-alerts'
  | 'relay'
  | 'usage-key-authorizer'
  | 'fallback-route'
  | 'openapi-document';

const OPERATION_GRANTS = Object.fromEntries(
  operations.map(({ name, grants }: ListedOperation) => [name, grants]),
) as Record<OperationName, readonly Grant[]>;

export const GRANTS: Readonly<Record<FunctionName, readonly Grant[]>> = {
  ...OPERATION_GRANTS,
  'finish-merges': [
    { actions: ['GetItem'], on: ['logHead', 'historyEntry'] },
    { actions: ['Query'], on: ['listedAccount', 'logPointer'] },
    { actions: ['BatchGetItem'], on: ['alert', 'logHead'] },
    { actions: ['UpdateItem'], on: ['alert', 'logHead', 'historyEntry'] },
  ],
  'ingest-records': [
    { actions: ['GetItem'], on: ['account', 'alert', 'alertKey'] },
    { actions: ['PutItem'], on: ['member', 'host', 'retirement', 'rumResource', 'rumUsage', 'workItem'] },
    { actions: ['UpdateItem'], on: ['hostStatus', 'incident', 'alert', 'alertKey', 'lastRecord'] },
    { actions: ['DeleteItem'], on: ['host', 'hostStatus'] },
    { actions: ['ConditionCheckItem'], on: ['retirement'] },
  ],
  'end-silent-alerts': [
    { actions: ['GetItem'], on: ['account'] },
    { actions: ['Query'], on: ['listedAccount', 'alertIndex'] },
    { actions: ['BatchGetItem'], on: ['alert'] },
    { actions: ['UpdateItem'], on: ['alert', 'alertKey'] },
  ],
  relay: [{ actions: ['GetItem'], on: ['historyEntry'] }],
  'usage-key-authorizer': [
    { actions: ['GetItem'], on: ['appKey'] },
    { actions: ['UpdateItem'], on: ['appKey'], attributes: ['last_used_at'] },
  ],
  'fallback-route': [],
  'openapi-document': [],
};
