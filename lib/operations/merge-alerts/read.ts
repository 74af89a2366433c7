/** Reads what a merge depends on, in the order that the protocol asks for. */

import { refusal } from '../../http/errors.ts';
import { allInOrder } from '../../shared/concurrency.ts';
import type { Table } from '../../table/client.ts';
import { type AttributeOf, type KeyOf, keys } from '../../table/keys.ts';
import { batchGet } from '../../table/read.ts';
import { keyUsedFor, otherKeysOf, requireTargets, type TargetKind, type Targets } from './decide.ts';
import { type EntryWithMoves, type KnownEntries, readEntries } from './entry.ts';
import { type LogHead, MAX_PENDING } from './log-head.ts';
import { ASSIGNMENT_ATTRIBUTES, type Assignments } from './move.ts';
import type { MergeRequest } from './request.ts';
import { createReservation, UNITS_PER_KB, type WriteBudget, writeUnitsOf } from './write-budget.ts';

export interface ReaderOptions {
  request: MergeRequest;
  table: Table;
  knownEntries: KnownEntries;
  writeBudget: WriteBudget;
  /** Maximum actions of one transaction. */
  transactionItems: number;
}

/** Most alerts that are read beside their reservation: if that is refused, they were read for nothing. */
const MAX_READ_BESIDE = 40;
/** About the most alerts of a merge that are read whole. */
const MAX_WHOLE = 100;
/** Most write units of a small merge: a partition has 1,000 a second. Far below the 4 MB of a transaction. */
const MAX_SMALL_UNITS = 1_000;
/** Calls at the same time that read alerts: few, for the reason of `moveAlerts`. */
const READ_CONCURRENCY = 5;
/** `Retry-After` in seconds when too many large merges are pending. */
const RETRY_PENDING_SECONDS = 10;

/** Reads for the attempts of one merge. */
export class TargetReader {
  readonly #options: ReaderOptions;
  readonly #alertKeys: readonly KeyOf<'alert'>[];
  readonly #otherKeys: readonly KeyOf<TargetKind>[];
  /** Gets the write units of all attempts: the alerts are the same. */
  readonly #reserve: ReturnType<typeof createReservation>;
  /** As the previous attempt has read them. */
  #targets: Targets | undefined;

  constructor(options: ReaderOptions) {
    const { request, table, writeBudget } = options;
    this.#options = options;
    this.#alertKeys = request.alertIds.map((id) => keys.alert(request.account, id));
    this.#otherKeys = otherKeysOf(request);
    this.#reserve = createReservation(writeBudget, request.account, table.signal);
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
    const readsBeside = this.#alertKeys.length <= MAX_READ_BESIDE && this.#isSmall(0);
    return readsBeside ? this.#readAtOnce() : this.#readInOrder();
  }

  /** A replay is answered whatever the budget says, so it may have been counted. */
  async #readAtOnce(): Promise<Targets | undefined> {
    const { request } = this.#options;
    const reserved = this.#reserve(UNITS_PER_KB * this.#alertKeys.length);
    const reading = this.#get([...this.#otherKeys, ...this.#alertKeys]);
    const [{ rows }] = await allInOrder([reading, reserved.catch(() => undefined)]);
    if (keyUsedFor(request, rows) === 'this call') return undefined;
    await reserved;
    const found = this.#alertKeys.map((key) => rows.of(key));
    const units = unitsOf(found);
    // The alerts of a large merge must be read after the log head, so they are read again.
    if (!this.#isSmall(units)) return this.#readInOrder();
    await this.#reserve(units);
    return requireTargets(request, rows, new Map(found.flatMap((row) => (row ? [[row.sk, row]] : []))));
  }

  /** Reads all but the alerts, reserves for these, and then reads them. */
  async #readInOrder(): Promise<Targets | undefined> {
    const { request } = this.#options;
    const { rows } = await this.#get(this.#otherKeys);
    if (keyUsedFor(request, rows) === 'this call') return undefined;
    await this.#reserve(UNITS_PER_KB * this.#alertKeys.length);
    const { head: headBefore } = requireTargets(request, rows);
    const { alerts, units } = await this.#readAlerts();
    await this.#reserve(units);
    const targets = requireTargets(request, rows, alerts);
    return this.#isSmall(units) ? targets : { ...targets, headBefore };
  }

  /**
   * Reads the alerts, and what they take to write, which only whole rows tell. Of many alerts some are read whole, at random, so that nobody
   * can choose small ones. The others are expected to take as much for each of their read units.
   */
  async #readAlerts(): Promise<{ alerts: Assignments; units: number }> {
    const step = Math.ceil(this.#alertKeys.length / MAX_WHOLE);
    const first = Math.floor(step * Math.random());
    const isWhole = (index: number) => index % step === first;
    const wholeKeys = this.#alertKeys.filter((_key, index) => isWhole(index));
    const otherKeys = this.#alertKeys.filter((_key, index) => !isWhole(index));
    const [whole, others] = await allInOrder([this.#get(wholeKeys), this.#get(otherKeys, ASSIGNMENT_ATTRIBUTES)]);
    const units = unitsOf(wholeKeys.map((key) => whole.rows.of(key)));
    return {
      alerts: new Map([...whole.rows.values(), ...others.rows.values()].map((row) => [row.sk, row])),
      units: units + Math.ceil((units * others.readUnits) / whole.readUnits),
    };
  }

  /** Reads all but the alerts again, for a further attempt of a large merge: it only requires that its alerts exist. */
  async #readOthers(previous: Targets): Promise<Targets | undefined> {
    const { request } = this.#options;
    const { rows } = await this.#get(this.#otherKeys);
    if (keyUsedFor(request, rows) === 'this call') return undefined;
    const { incident, head } = requireTargets(request, rows, previous.alerts);
    return { ...previous, incident, head };
  }

  async #get<Kind extends TargetKind, Name extends AttributeOf<Kind>>(
    wanted: readonly KeyOf<Kind>[],
    attributes?: readonly Name[],
  ) {
    const options = { ...(attributes && { attributes }), concurrency: READ_CONCURRENCY };
    const { rows, units } = await batchGet(this.#options.table, wanted, options);
    // DynamoDB also counts the reads of rows that do not exist, DynamoDB Local does not.
    return { rows, readUnits: Math.max(units, wanted.length) };
  }

  /** Whether the merge fits into one transaction. @param units write units of its alerts */
  #isSmall(units: number): boolean {
    const { request, transactionItems } = this.#options;
    return this.#alertKeys.length + otherActionsOf(request) <= transactionItems && units <= MAX_SMALL_UNITS;
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

/** Write units of alerts, also of those that do not exist. */
const unitsOf = (rows: readonly (object | undefined)[]) =>
  rows.reduce<number>((sum, row) => sum + writeUnitsOf(row ?? {}), 0);
