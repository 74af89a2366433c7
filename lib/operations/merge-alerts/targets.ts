/** The rows that a merge depends on, and what they must say. */

import { type Explanations, refusal } from '../../http/errors.ts';
import type { IncidentRow } from '../../model/incident.ts';
import { type KeyOf, keys } from '../../table/keys.ts';
import type { RowMap } from '../../table/read.ts';
import { OWNER_ATTRIBUTES, TITLE_ATTRIBUTES } from './incident.ts';
import { LOG_HEAD_ATTRIBUTES, type LogHead, logHeadOf } from './log-head.ts';
import { ASSIGNMENT_ATTRIBUTES, type Assignment, type Assignments } from './move.ts';
import type { MergeRequest } from './request.ts';

/** What a merge depends on, as read. */
export interface Targets {
  readonly incident: IncidentRow;
  readonly alerts: Assignments;
  readonly head: LogHead;
  /** Only of a large merge: the log head before the alerts were read. Its origins are those after these entries. */
  readonly headBefore?: LogHead;
}

/** Maximum ids that an error message names. */
const MAX_NAMED = 10;

/** The attributes that every merge reads. If it changes the title or the owner of the incident, it reads these, too. */
const ATTRIBUTES = [
  ...ASSIGNMENT_ATTRIBUTES,
  ...LOG_HEAD_ATTRIBUTES,
  'body_hash',
  'ttl',
  'title_by',
  'owner_by',
] as const;
const FOR_TITLE = [...TITLE_ATTRIBUTES, 'feed_title'] as const;
const FOR_OWNER = [...OWNER_ATTRIBUTES, 'feed_owner_id'] as const;
type Attribute = (typeof ATTRIBUTES | typeof FOR_TITLE | typeof FOR_OWNER)[number];
export type TargetKey = KeyOf<'alert' | 'incident' | 'member' | 'logHead' | 'idempotency'>;
type TargetRows = RowMap<'alert' | 'incident' | 'member' | 'logHead' | 'idempotency', Attribute>;

/** Only the incident has title and owner, but DynamoDB takes one list of attributes for all rows of a call. */
export const attributesOf = ({ title, owner }: MergeRequest): Attribute[] => [
  ...new Set<Attribute>([
    ...ATTRIBUTES,
    ...(title === undefined ? [] : FOR_TITLE),
    ...(owner === undefined ? [] : FOR_OWNER),
  ]),
];

/** Of all targets but the alerts. */
export const otherKeysOf = ({ account, incidentId, owner, idempotency }: MergeRequest): TargetKey[] => [
  keys.logHead(account),
  ...(idempotency ? [idempotency.key] : []),
  keys.incident(account, incidentId),
  ...(owner === undefined ? [] : [keys.member(account, owner)]),
];

/** @throws ApiError when the Idempotency-Key was used with another body */
export function wasCommitted({ idempotency }: MergeRequest, rows: TargetRows): boolean {
  const row = idempotency && rows.of(idempotency.key);
  if (!row || row.ttl <= idempotency.nowSeconds) return false;
  if (row.body_hash !== idempotency.bodyHash) throw refusal('idempotencyKeyReused');
  return true;
}

/**
 * @param alertKeys those of the alerts that were read
 * @param unread the number of alerts that the refusal counts as not looked up
 * @throws ApiError that names what does not exist
 */
export function requireTargets(
  { account, alertIds, incidentId, owner }: MergeRequest,
  rows: TargetRows,
  alertKeys: readonly KeyOf<'alert'>[],
  unread = alertIds.length - alertKeys.length,
): Targets {
  const incident = rows.of(keys.incident(account, incidentId));
  const alerts = new Map<string, Assignment>();
  const missing: Explanations['mergeTargetsNotFound']['named'][number][] = [];
  if (!incident) missing.push({ kind: 'incident', id: incidentId });
  for (const key of alertKeys) {
    const row = rows.of(key);
    if (row) alerts.set(key.sk, row);
    else missing.push({ kind: 'alert', id: key.sk });
  }
  if (owner !== undefined && !rows.of(keys.member(account, owner))) missing.push({ kind: 'member', id: String(owner) });
  if (!incident || missing.length > 0) throw refusal('mergeTargetsNotFound', { ...namedAndMore(missing), unread });
  return { incident, alerts, head: logHeadOf(rows.of(keys.logHead(account))) };
}

/** The first items, which a message names, and how many more there are. */
export const namedAndMore = <Item>(all: readonly Item[]) => ({
  named: all.slice(0, MAX_NAMED),
  more: Math.max(0, all.length - MAX_NAMED),
});
