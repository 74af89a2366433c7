/** Reads what a merge depends on, in the order that the protocol asks for. */

import { refusal } from '../../http/errors.ts';
import { allInOrder } from '../../shared/concurrency.ts';
import type { Table } from '../../table/client.ts';
import { type KeyOf, keys, type RowKind } from '../../table/keys.ts';
import { batchGet, type ReadBatch, RowMap } from '../../table/read.ts';
import { type EntryWithMoves, type KnownEntries, readEntries } from './entry.ts';
import { type LogHead, MAX_PENDING } from './log-head.ts';
import { createUnitCounter, FREE_UNITS, type ReadBudget } from './read-budget.ts';
import type { MergeRequest } from './request.ts';
import { attributesOf, otherKeysOf, requireTargets, type TargetKey, type Targets, wasCommitted } from './targets.ts';

export interface ReaderOptions {
  request: MergeRequest;
  table: Table;
  knownEntries: KnownEntries;
  readBudget: ReadBudget;
  /** Maximum actions of one transaction. */
  transactionItems: number;
}

/** Alerts that a large merge reads first. Their units show what the rest costs. */
const FIRST_READ = 500;
/** Calls at the same time that read alerts: few, for the reason of `moveAlerts`. */
const READ_CONCURRENCY = 5;
/** `Retry-After` in seconds when too many large merges are pending. */
const RETRY_PENDING_SECONDS = 10;

/** Reads for the attempts of one merge. */
export class TargetReader {
  readonly #options: ReaderOptions;
  readonly #alertKeys: readonly KeyOf<'alert'>[];
  readonly #otherKeys: readonly TargetKey[];
  /** As the previous attempt has read them. */
  #targets: Targets | undefined;

  constructor(options: ReaderOptions) {
    const { request } = options;
    this.#options = options;
    this.#alertKeys = request.alertIds.map((id) => keys.alert(request.account, id));
    this.#otherKeys = otherKeysOf(request);
  }

  /**
   * Reads the targets and the pending entries; for a further attempt, only what may have changed since the previous one.
   * @param currentHead the log head, if nothing else has changed
   * @returns undefined: the same call was committed before
   * @throws ApiError when something does not exist, when the Idempotency-Key was used with another body, when too many large merges are
   *   pending, or when the budget is used up
   */
  async read(
    currentHead: LogHead | undefined,
  ): Promise<{ targets: Targets; pending: readonly EntryWithMoves[] } | undefined> {
    const { request, table, knownEntries } = this.#options;
    const targets = await this.#readTargets(currentHead);
    this.#targets = targets;
    if (!targets) return undefined;
    refuseIfTooManyPending(targets);
    const { head, headBefore = head } = targets;
    return { targets, pending: await readEntries(table, request.account, headBefore.pending, knownEntries) };
  }

  async #readTargets(currentHead: LogHead | undefined): Promise<Targets | undefined> {
    const previous = this.#targets;
    if (previous && currentHead) return { ...previous, head: currentHead };
    if (previous?.headBefore) return this.#readOthers(previous);
    const { request, transactionItems } = this.#options;
    const actions = request.alertIds.length + otherActionsOf(request);
    return actions > transactionItems ? this.#readLarge() : this.#readSmall();
  }

  async #readSmall(): Promise<Targets | undefined> {
    const { request } = this.#options;
    const { rows, units } = await this.#get([...this.#otherKeys, ...this.#alertKeys]);
    if (wasCommitted(request, rows)) return undefined;
    await this.#newUnitCounter()(units);
    const targets = requireTargets(request, rows, this.#alertKeys);
    // The alerts of a large merge must be read after the log head, so they are read again.
    return units > FREE_UNITS ? this.#readLarge() : targets;
  }

  /** The alerts of a large merge are read after all else. If one of the first does not exist, the rest is not read. */
  async #readLarge(): Promise<Targets | undefined> {
    const { request } = this.#options;
    const alertKeys = this.#alertKeys;
    const countUnits = this.#newUnitCounter();
    // Until alerts are read, each is expected to take one unit.
    const admitted = countUnits(alertKeys.length);
    const [others] = await allInOrder([this.#get(this.#otherKeys), admitted.catch(() => undefined)]);
    if (wasCommitted(request, others.rows)) return undefined;
    const { head: headBefore } = requireTargets(request, others.rows, []);
    await admitted;

    const [firstKeys, restKeys] = [alertKeys.slice(0, FIRST_READ), alertKeys.slice(FIRST_READ)];
    const first = await this.#get(firstKeys);
    requireTargets(request, new RowMap([...others.rows, ...first.rows]), firstKeys);
    await countUnits(Math.ceil((first.units * alertKeys.length) / firstKeys.length));
    const rest = await this.#get(restKeys);
    await countUnits(first.units + rest.units);
    const rows = new RowMap([...others.rows, ...first.rows, ...rest.rows]);
    return { ...requireTargets(request, rows, alertKeys), headBefore };
  }

  /** Reads all but the alerts again, for a further attempt of a large merge: it only requires that its alerts exist. */
  async #readOthers(previous: Targets): Promise<Targets | undefined> {
    const { request } = this.#options;
    const { rows } = await this.#get(this.#otherKeys);
    if (wasCommitted(request, rows)) return undefined;
    const { incident, head } = requireTargets(request, rows, [], 0);
    return { ...previous, incident, head };
  }

  async #get(wanted: readonly TargetKey[]) {
    const { request, table } = this.#options;
    const options = { attributes: attributesOf(request), concurrency: READ_CONCURRENCY };
    const { rows, batches } = await batchGet(table, wanted, options);
    return { rows, units: unitsOf(batches) };
  }

  #newUnitCounter() {
    const { request, table, readBudget } = this.#options;
    return createUnitCounter(readBudget, request.account, table.signal);
  }
}

function refuseIfTooManyPending({ head, headBefore }: Targets): void {
  const pending = head.pending?.length ?? 0;
  if (headBefore && pending >= MAX_PENDING)
    throw refusal('mergesPending', { pending }, { 'Retry-After': String(RETRY_PENDING_SECONDS) });
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
