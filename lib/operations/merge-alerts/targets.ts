/** Reads what a merge depends on, checks that it exists, and limits what the account's merges read. */

import type { Deps } from '../../deps.ts';
import { type Explanations, refusal } from '../../http/errors.ts';
import { type RateLimiter, retryAfter } from '../../http/rate-limit.ts';
import type { IncidentRow } from '../../model/incident.ts';
import { allInOrder } from '../../shared/concurrency.ts';
import type { Table } from '../../table/client.ts';
import { type KeyOf, keys, type RowKind } from '../../table/keys.ts';
import { batchGet, type ReadBatch, RowMap } from '../../table/read.ts';
import { ASSIGNMENT_ATTRIBUTES, type Assignment, type Assignments } from './alerts.ts';
import { OWNER_ATTRIBUTES, TITLE_ATTRIBUTES } from './incident.ts';
import { LOG_HEAD_ATTRIBUTES, type LogHead, logHeadOf } from './log-head.ts';
import type { MergeRequest } from './request.ts';

/** What a merge depends on, as read. */
export interface Targets {
  readonly incident: IncidentRow;
  readonly alerts: Assignments;
  readonly head: LogHead;
  /** Only of a large merge: the log head before the alerts were read. Its origins are those after these entries. */
  readonly headBefore?: LogHead;
}

export interface ReaderOptions {
  request: MergeRequest;
  table: Table;
  now: Deps['now'];
  /** Limits what the account's merges read. */
  readBudget: Pick<RateLimiter, 'take'>;
  /** Maximum actions of one transaction. */
  transactionItems: number;
}

/**
 * Largest small merge, in read units of 4 KB. A transaction costs two write units per KB, and a partition has 1,000 a second. Far
 * below the 4 MB of a transaction.
 */
const SMALL_UNITS = 125;
/** Alerts that a large merge reads first. Their units show what the rest costs. */
const FIRST_READ = 500;
/** Calls at the same time that read alerts: few, for the reason of `moveAlerts`. */
const READ_CONCURRENCY = 5;
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
type Kind = 'alert' | 'incident' | 'member' | 'logHead' | 'idempotency';

export function createTargetReader({ request, table, now, readBudget, transactionItems }: ReaderOptions) {
  const { account, incidentId, title, owner, idempotency } = request;
  const alertKeys = request.alertIds.map((id) => keys.alert(account, id));
  const incidentKey = keys.incident(account, incidentId);
  const ownerKeys = owner === undefined ? [] : [keys.member(account, owner)];
  const headKey = keys.logHead(account);
  const otherKeys: KeyOf<Kind>[] = [headKey, ...(idempotency ? [idempotency.key] : []), incidentKey, ...ownerKeys];
  // Only the incident has title and owner, but a request has one list of attributes for all its rows.
  const attributes = [
    ...new Set<Attribute>([
      ...ATTRIBUTES,
      ...(title === undefined ? [] : FOR_TITLE),
      ...(owner === undefined ? [] : FOR_OWNER),
    ]),
  ];

  /**
   * Reads all.
   * @returns undefined: the same call was committed before
   * @throws ApiError when something does not exist, when the Idempotency-Key was used with another body, or when the budget is used up
   */
  async function readAll(): Promise<Targets | undefined> {
    if (alertKeys.length + otherActionsOf(request) > transactionItems) return readLarge();
    const { rows, units } = await read([...otherKeys, ...alertKeys]);
    if (wasCommitted(rows)) return undefined;
    await createBudget().take(units);
    const targets = targetsIn(rows, alertKeys);
    // The alerts of a large merge must be read after the log head, so they are read again.
    return units > SMALL_UNITS ? readLarge() : targets;
  }

  /** The alerts of a large merge are read after all else. If one of the first does not exist, the rest is not read. */
  async function readLarge(): Promise<Targets | undefined> {
    const budget = createBudget();
    // Until alerts are read, each is expected to take one unit.
    const admitted = budget.take(alertKeys.length);
    const [others] = await allInOrder([read(otherKeys), admitted.catch(() => undefined)]);
    if (wasCommitted(others.rows)) return undefined;
    const { head: headBefore } = targetsIn(others.rows, []);
    await admitted;

    const [firstKeys, restKeys] = [alertKeys.slice(0, FIRST_READ), alertKeys.slice(FIRST_READ)];
    const first = await read(firstKeys);
    targetsIn(new RowMap([...others.rows, ...first.rows]), firstKeys);
    await budget.take(Math.ceil((first.units * alertKeys.length) / firstKeys.length));
    const rest = await read(restKeys);
    await budget.take(first.units + rest.units);
    return { ...targetsIn(new RowMap([...others.rows, ...first.rows, ...rest.rows]), alertKeys), headBefore };
  }

  /** Reads all but the alerts again, for a further attempt of a large merge: it only requires that its alerts exist. */
  async function readOthers({ alerts, headBefore }: Required<Targets>): Promise<Targets | undefined> {
    const { rows } = await read(otherKeys);
    return wasCommitted(rows) ? undefined : { ...targetsIn(rows, [], 0), alerts, headBefore };
  }

  async function read(wanted: readonly KeyOf<Kind>[]) {
    const { rows, batches } = await batchGet(table, wanted, { attributes, concurrency: READ_CONCURRENCY });
    return { rows, units: unitsOf(batches) };
  }

  function wasCommitted(rows: RowMap<Kind, Attribute>): boolean {
    const row = idempotency && rows.of(idempotency.key);
    if (!row || row.ttl <= idempotency.nowSeconds) return false;
    if (row.body_hash !== idempotency.bodyHash) throw refusal('idempotencyKeyReused');
    return true;
  }

  /** @param unread the number of alerts that were not looked up */
  function targetsIn(
    rows: RowMap<Kind, Attribute>,
    readAlerts: readonly KeyOf<'alert'>[],
    unread = alertKeys.length - readAlerts.length,
  ): Targets {
    const incident = rows.of(incidentKey);
    const alerts = new Map<string, Assignment>();
    const missing: Explanations['mergeTargetsNotFound']['named'][number][] = [];
    if (!incident) missing.push({ kind: 'incident', id: incidentId });
    for (const key of readAlerts) {
      const row = rows.of(key);
      if (row) alerts.set(key.sk, row);
      else missing.push({ kind: 'alert', id: key.sk });
    }
    if (!ownerKeys.every((key) => rows.of(key))) missing.push({ kind: 'member', id: String(owner) });
    if (!incident || missing.length > 0) throw refusal('mergeTargetsNotFound', { ...namedAndMore(missing), unread });
    return { incident, alerts, head: logHeadOf(rows.of(headKey)) };
  }

  /** Takes from the account's budget what one merge reads. Few units more than it has taken are free. */
  function createBudget() {
    let taken = 0;
    return {
      /** @param units that the merge reads in all. @throws ApiError when the budget is used up */
      async take(units: number): Promise<void> {
        const amount = units - taken;
        if (amount <= SMALL_UNITS) return;
        const { refusedBy } = await readBudget.take(account, table.signal, amount);
        taken = units;
        if (!refusedBy) return;
        const { limit, seconds: windowSeconds } = refusedBy.window;
        throw refusal('mergesReadTooMuch', { limit, windowSeconds }, retryAfter(refusedBy, now()));
      },
    };
  }

  return { readAll, readOthers };
}

/** The actions of a merge's transaction besides those of its alerts. The 3 are the entry, the log head and the log. */
const otherActionsOf = ({ title, owner, idempotency }: MergeRequest): number =>
  3 +
  Number(title !== undefined || owner !== undefined) +
  Number(owner !== undefined) +
  Number(idempotency !== undefined);

/** Read units of batches: at least one for each key, even if it has no row. */
const unitsOf = (batches: readonly ReadBatch<RowKind>[]) =>
  batches.reduce((sum, { units, keys }) => sum + Math.max(units, keys.length), 0);

/** The first items, which a message names, and how many more there are. */
export const namedAndMore = <Item>(all: readonly Item[]) => ({
  named: all.slice(0, MAX_NAMED),
  more: Math.max(0, all.length - MAX_NAMED),
});
