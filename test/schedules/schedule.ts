/** Processes that run concurrently on one table in memory. fast-check's scheduler chooses the order of their calls to it; some meet faults. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { it, onTestFinished, vi } from 'vitest';
import { isUnavailable } from '../../lib/shared/concurrency.ts';
import type { Table } from '../../lib/table/client.ts';
import { type Key, parseKey } from '../../lib/table/keys.ts';
import { SEED } from '../support/chance.ts';
import { connectionLost } from '../support/faults.ts';
import { newDouble } from '../support/service.ts';
import { connectDouble, type KeysAndAttributes, type Request, type Transaction } from '../table-double/client.ts';
import { type Change, TableDouble } from '../table-double/table-double.ts';

/** What may happen to a call, after the SDK's own attempts. */
const FAULTS = [
  'not carried out',
  'reply lost',
  /** The first reply is lost, and the SDK sends it again. */
  'sent twice',
  /** Carried out after its process has given it up. */
  'late',
  /** The same of a transaction that is reported as in progress. */
  'in progress',
  'throttled',
  'conflict',
  /** The same, but an earlier attempt of the SDK is carried out later. */
  'conflict, late',
  /** Answered truly, also with a refusal; an earlier attempt of the SDK is carried out once more later. */
  'repeated late',
  /** Leaves one of a batch of reads unprocessed. */
  'unprocessed',
  /**
   * Other processes write between the two halves of a batch of reads. Nothing weaker is needed: each read of a batch is serializable with
   * transactions, only the batch as a unit is not (Developer Guide, "DynamoDB Transactions: How it works", isolation levels).
   */
  'in halves',
  /** Queries of other processes do not show one row of the transaction yet, until any of them writes; other reads and conditions do. */
  'in part',
] as const;
type Fault = (typeof FAULTS)[number];

/** The faults of a process: at which of its calls it dies, and what happens to the first call from a number on that a fault fits. */
export interface Fate {
  dies: { at: number; carriedOut: boolean } | null;
  faults: { at: number; fault: Fault }[];
}

/** The end of a process; `failed`: the table was not available to it. */
export type Outcome<Result> = { result: Result } | 'failed' | 'died';

/** Maximum calls of all processes together. */
const MAX_CALLS = 2_000;
const at = fc.nat(8);
export const lives: Fate = { dies: null, faults: [] };
export const anyFate: fc.Arbitrary<Fate> = fc.record({
  dies: fc.option(fc.record({ at, carriedOut: fc.boolean() }), { freq: 2 }),
  faults: fc.array(fc.record({ at, fault: fc.constantFrom(...FAULTS) }), { maxLength: 2 }),
});

/** Whether a process lives and no fault hides from it what its writes have done: it must succeed or be refused. */
export const answersTruly = ({ dies, faults }: Fate): boolean =>
  !dies &&
  faults.every(({ fault }) =>
    ['reply lost', 'sent twice', 'repeated late', 'unprocessed', 'in halves', 'in part'].includes(fault),
  );

interface BatchReply {
  Responses: Record<string, unknown[]>;
  ConsumedCapacity: unknown[];
}

const $metadata = {};

export class Schedule {
  /** What each request has changed, in their order. */
  readonly commits: (readonly Change[])[] = [];
  readonly #double = new TableDouble(new Map(), (changes) => this.commits.push(changes));
  readonly #scheduler: fc.Scheduler;
  /** Rows that queries still see as they were. */
  readonly #hidden = new Set<{ key: Key; before: unknown }>();
  /** The number of calls that wait, of each process that runs. */
  readonly #running = new Map<object, number>();
  #transactions = 0;
  /** The table without faults, and with replies at once. */
  readonly table = newDouble(this.#double);

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler;
  }

  items = () => this.#double.items();

  /** Starts a process, whose calls wait until {@link run} lets them go on. */
  start<Result>(work: (table: Table) => Promise<Result>, { dies, faults }: Fate): Promise<Outcome<Result>> {
    const process = {};
    const waiting = [...faults];
    let calls = -1;
    const { promise: died, resolve: die } = Promise.withResolvers<'died'>();
    const never = () => new Promise<never>(() => {});
    const table = connectDouble(async (request) => {
      calls += 1;
      const number = calls;
      if (dies && number > dies.at) return never();
      await this.#turn(process, request.name);
      if (number !== dies?.at) {
        const met = waiting.find(({ at, fault }) => at <= number && fits(fault, request));
        if (met) waiting.splice(waiting.indexOf(met), 1);
        return this.#send(process, request, met?.fault);
      }
      if (dies.carriedOut) this.#try(request);
      die('died');
      return never();
    });
    this.#running.set(process, 0);
    const ended = work(table).then(
      (result) => ({ result }),
      (error: unknown) => {
        if (!isUnavailable(error)) throw error;
        return 'failed' as const;
      },
    );
    return Promise.race([ended, died]).finally(() => this.#running.delete(process));
  }

  /** Starts a process with each of these fates, and then without faults, until it succeeds: as a queue repeats a message. */
  async repeat(work: (table: Table) => Promise<unknown>, ...fates: Fate[]): Promise<void> {
    const outcome = await this.start(work, fates.shift() ?? lives);
    if (typeof outcome === 'string') await this.repeat(work, ...fates);
  }

  /** Lets processes run until all have ended or died, and all calls that are late have been carried out. */
  async run<Result>(running: readonly Promise<Result>[]): Promise<Result[]> {
    let isOver = false;
    const all = Promise.all(running).finally(() => {
      isOver = true;
    });
    all.catch(() => undefined); // thrown below
    let calls = 0;
    while (!isOver || this.#scheduler.count() > 0) {
      await nextTurn();
      // A process without a call works, or waits for the next attempt: it makes its next call soon.
      const isWorking = [...this.#running.values()].includes(0);
      if (isWorking || this.#scheduler.count() === 0) continue;
      calls += 1;
      if (calls > MAX_CALLS) throw new Error('the processes make calls without end');
      await this.#scheduler.waitOne();
    }
    return all;
  }

  async #turn(process: object, name: string): Promise<void> {
    const change = (by: number) => this.#running.set(process, (this.#running.get(process) ?? 0) + by);
    if (this.#running.has(process)) change(1);
    await this.#scheduler.schedule(Promise.resolve(), name);
    if (this.#running.has(process)) change(-1);
  }

  #try(request: Request): unknown {
    try {
      return this.#apply(request);
    } catch {
      return undefined; // a condition does not hold
    }
  }

  #tryLate(request: Request): void {
    void this.#scheduler.schedule(Promise.resolve(), `${request.name}, late`).then(() => this.#try(request));
  }

  /** Answers a request as this process sees the rows. */
  #apply(request: Request): unknown {
    if (isWrite(request)) this.#hidden.clear();
    if (this.#hidden.size === 0 || request.name !== 'QueryCommand') return this.#double.apply(request);
    const seen = new TableDouble(this.#double.rows);
    for (const { key: Key, before: Item } of this.#hidden)
      seen.apply(Item ? { name: 'PutCommand', input: { Item } } : { name: 'DeleteCommand', input: { Key } });
    return seen.apply(request);
  }

  async #send(process: object, sent: Request, fault: Fault | undefined): Promise<unknown> {
    const { name, input } = sent;
    // The SDK gives all its attempts at a transaction one token.
    this.#transactions += 1;
    const token = name === 'TransactWriteCommand' && { ClientRequestToken: String(this.#transactions) };
    const request = { name, input: { ...token, ...input } };
    switch (fault) {
      case undefined:
        return this.#apply(request);
      case 'late':
      case 'in progress':
      case 'conflict, late':
        this.#tryLate(request);
        if (fault === 'conflict, late') throw refusal('conflict', request);
        throw fault === 'late' ? connectionLost() : new TransactionInProgressException({ message: fault, $metadata });
      case 'repeated late':
        this.#tryLate(request);
        return this.#apply(request);
      case 'reply lost':
        this.#try(request);
        throw connectionLost();
      case 'sent twice':
        this.#try(request);
        await this.#turn(process, name);
        return this.#apply(request);
      case 'unprocessed': {
        const { keys, some } = batchOf(request);
        const reply = this.#apply({ name, input: { ...input, RequestItems: some(keys.slice(1)) } }) as object;
        return { ...reply, UnprocessedKeys: some(keys.slice(0, 1)) };
      }
      case 'in halves': {
        const { table, keys, some } = batchOf(request);
        const read = (part: Key[]) =>
          this.#apply({ name, input: { ...input, RequestItems: some(part) } }) as BatchReply;
        const middle = Math.ceil(keys.length / 2);
        const halves = [keys.slice(0, middle), keys.slice(middle)];
        const [earlier = [], later = []] = this.#transactions % 2 === 0 ? halves : halves.toReversed();
        const first = read(earlier);
        await this.#turn(process, name);
        const second = read(later);
        return {
          Responses: { [table]: [first, second].flatMap(({ Responses }) => Responses[table] ?? []) },
          ConsumedCapacity: [...first.ConsumedCapacity, ...second.ConsumedCapacity],
        };
      }
      case 'in part': {
        const written = (input.TransactItems as Transaction['TransactItems']).flatMap(
          ({ Put, Update }) => Put?.Item ?? Update?.Key ?? [],
        );
        const { pk, sk } = written[this.#transactions % written.length] as Key;
        const before = this.#double.rows.get(`${pk}\n${sk}`);
        const reply = this.#apply(request);
        const hidden = { key: { pk, sk }, before };
        this.#hidden.add(hidden);
        await this.#turn(process, name).finally(() => this.#hidden.delete(hidden));
        return reply;
      }
      default:
        throw refusal(fault, request);
    }
  }
}

/** The keys of a batch of reads, and its `RequestItems` for some of them. */
function batchOf({ input }: Request) {
  const [[table, { Keys: keys, ...rest }]] = Object.entries(input.RequestItems) as [[string, KeysAndAttributes]];
  return { table, keys, some: (part: Key[]) => ({ [table]: { ...rest, Keys: part } }) };
}

const isWrite = ({ name }: Request) => !/^(Get|BatchGet|Query|Scan)/.test(name);

function fits(fault: Fault, request: Request): boolean {
  if (fault === 'not carried out') return true;
  if (fault === 'unprocessed' || fault === 'in halves') return request.name === 'BatchGetCommand';
  if (fault === 'in progress' || fault === 'in part') return request.name === 'TransactWriteCommand';
  // No transaction writes the counts of calls, so they meet no conflict.
  if (fault.startsWith('conflict') && parseKey(request.input.Key ?? {})?.kind === 'rateCount') return false;
  return isWrite(request);
}

/** The error of a call that is not carried out. */
function refusal(fault: 'not carried out' | 'throttled' | 'conflict', { name, input }: Request): Error {
  if (fault === 'not carried out') return connectionLost();
  if (name === 'TransactWriteCommand') {
    const Code = fault === 'throttled' ? 'ThrottlingError' : 'TransactionConflict';
    const CancellationReasons = (input as Transaction).TransactItems.map(() => ({ Code }));
    return new TransactionCanceledException({ message: Code, $metadata, CancellationReasons });
  }
  const Refusal = fault === 'throttled' ? ProvisionedThroughputExceededException : TransactionConflictException;
  return new Refusal({ message: fault, $metadata });
}

/**
 * A test that runs a property on many schedules: for seconds, or longer with the environment variable FAULTS.
 * @param ci how many with `FAULTS=ci`
 */
export function onSchedules<Case>(
  name: string,
  cases: fc.Arbitrary<Case>,
  property: (each: Case, schedule: Schedule) => Promise<void>,
  ci = 600,
): void {
  const numRuns = { ci, full: 100_000 }[process.env.FAULTS ?? ''] ?? 300;
  it(`${name} (${numRuns} schedules, SEED=${SEED})`, { timeout: 20 * 60_000 }, async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0); // no waits
    onTestFinished(() => void vi.restoreAllMocks());
    const ofCase = fc.asyncProperty(cases, fc.scheduler(), (each, it) => property(each, new Schedule(it)));
    await fc.assert(ofCase, { numRuns, seed: SEED });
  });
}
