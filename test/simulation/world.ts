/**
 * One run of real code under a scheduler: processes, each with a clock of its own, and their calls to the table, each of which
 * waits until the scheduler takes it. Between two of its calls a process runs alone and to its end, so it is a function of the
 * replies that it got; and a run is a function of the steps that were taken.
 */
import nodeCrypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import {
  DynamoDBServiceException,
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import type { Call } from '../../lib/api/operation-handler.ts';
import type { Deps } from '../../lib/deps.ts';
import type { Int64 } from '../../lib/json.ts';
import { readSettings } from '../../lib/settings.ts';
import type { Table } from '../../lib/table/client.ts';
import { TIME_LIMITS } from '../../lib/time-limits.ts';
import { connectDouble, TABLE_NAME } from './double-client.ts';
import { type Access, accessesOf, type Request, type Rows, TableDouble } from './table-double.ts';
import { canonical, type Item } from './values.ts';

/** The n-th ObjectID. */
export const id = (n: number) => n.toString(16).padStart(24, '0');

const settings = readSettings({ TABLE_NAME });
const silent = () => undefined;

/** Production's parts on a table, with a clock and ids that are the same in each run. */
export function depsOver(
  table: Table,
  { now = () => START_MS, newId = () => nodeCrypto.randomUUID() }: Partial<Deps> = {},
): Deps {
  const log = { info: silent, warn: silent, error: silent };
  return { table, now, newId, log, metrics: { call: silent, event: silent }, settings, timeLimits: TIME_LIMITS };
}

/** A validated call of an operation, as the chain before it hands it over. */
export function callOf<Body>(body: Body, accountId: Int64, idempotencyKey?: string): Call<Body> {
  const caller = { accountId, appKeyId: 'key', permissions: [], cursorSecret: new Uint8Array() };
  return { body, caller, requestId: 'request', idempotencyKey, signal: AbortSignal.timeout(TIME_LIMITS.callMs) };
}

/** Unix milliseconds. */
export const START_MS = 1_800_000_000_000;

/** What can go wrong with a call, or with the process that makes it. */
export const FAULTS = {
  dies: 'the process dies; what it has sent may arrive later',
  'is applied, its reply lost, and sent again': 'by the SDK',
  'is applied, and all its replies lost': 'also those to the attempts of the SDK',
  'gets no reply': 'not to any attempt; it may arrive later',
  'is throttled': 'past the attempts of the SDK',
  'meets another transaction': 'past the attempts of the SDK',
  'runs out of time': 'the next of the timers of its process ends',
  'comes twice': 'the message that began the process',
} as const;
export type Fault = keyof typeof FAULTS;

/** What the scheduler may do next. */
export interface Step {
  /** The same in each run that took the same steps before. */
  readonly name: string;
  readonly process: string;
  readonly fault: Fault | undefined;
  readonly accesses: readonly Access[];
  /** The order of this step and any other matters: it begins an operation, and which others have ended shows. */
  readonly begins: boolean;
}

interface Pending {
  readonly name: string;
  readonly process: Process;
  /** undefined: a pause between operations. */
  readonly request: Request | undefined;
  readonly operation: Operation | undefined;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A call of an operation, as its caller sees it. */
export interface Operation {
  readonly name: string;
  /** Tells it from others of its name. */
  readonly id: string;
  /** Calls to the table. */
  calls: number;
  /** Ids of operations that had ended when its first call was taken; undefined: none was. */
  after?: readonly string[];
  ended?: true;
  answer?: unknown;
  /** In place of an answer. */
  error?: unknown;
}

interface Timer {
  readonly atMs: number;
  readonly fire: () => void;
}

/** What runs in one process knows of its surroundings. */
export interface Surroundings {
  readonly deps: Deps;
  /** Calls an operation; what becomes of it is kept by this name. */
  call<Answer>(name: string, act: () => Promise<Answer>): Promise<Answer>;
  /** Lets others come in between, and time pass. */
  pause(ms?: number): Promise<void>;
}

/** @throws what fails the process; of a message: it comes again */
export type Script = (surroundings: Surroundings) => Promise<unknown>;

const abortError = () => Object.assign(new Error('aborted'), { name: 'AbortError' });
const realImmediate = setImmediate;
const drained = () => new Promise((resolve) => realImmediate(resolve));

/** The process whose code is running: one at a time. */
let running: Process | undefined;

class Process {
  readonly name: string;
  readonly script: Script;
  /** Of what it was begun by a message: comes again after a failure. */
  readonly message: boolean;
  clockMs: number;
  timers: Timer[] = [];
  alive = true;
  /** All that it has been told: decides all that it does. */
  history: string;
  calls = 0;
  #ids = 0;

  constructor(
    name: string,
    script: Script,
    { message = false, clockMs = START_MS }: { message?: boolean; clockMs?: number },
  ) {
    this.name = name;
    this.script = script;
    this.message = message;
    this.clockMs = clockMs;
    this.history = name;
  }

  newId = () => {
    this.#ids += 1;
    return `${String(this.#ids).padStart(2, '0')} of ${this.name}`;
  };

  timer(ms: number, fire: () => void): Timer {
    const timer = { atMs: this.clockMs + ms, fire };
    this.timers.push(timer);
    return timer;
  }

  /** Ends the timer that comes next, if it does by then. @returns false when there is none */
  fireNext(untilMs = Number.POSITIVE_INFINITY): boolean {
    const next = this.timers.reduce<Timer | undefined>(
      (one, other) => (one && one.atMs <= other.atMs ? one : other),
      undefined,
    );
    if (!next || next.atMs > untilMs) return false;
    this.timers = this.timers.filter((timer) => timer !== next);
    this.clockMs = Math.max(this.clockMs, next.atMs);
    next.fire();
    return true;
  }

  /** Takes no time but its own: whatever happens meanwhile can as well happen before its next call. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const until = this.clockMs + ms;
    while (!signal?.aborted && this.fireNext(until));
    if (signal?.aborted) throw abortError();
    this.clockMs = until;
  }
}

/** Replaces time and randomness by those of the running process, for as long as this program runs. */
export function virtualize(): void {
  const own = () => running ?? new Process('set-up', async () => {}, {});
  timers.setTimeout = ((ms: number, value: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    own()
      .sleep(ms, signal)
      .then(() => value)) as typeof timers.setTimeout;
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController();
    running?.timer(ms, () => controller.abort(Object.assign(new Error('timed out'), { name: 'TimeoutError' })));
    return controller.signal;
  };
  const { setTimeout: realTimeout, clearTimeout: realClear } = globalThis;
  globalThis.setTimeout = ((fire: () => void, ms: number) =>
    running ? running.timer(ms, fire) : realTimeout(fire, ms)) as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((timer: Timer) => {
    if (running) running.timers = running.timers.filter((each) => each !== timer);
    else realClear(timer as never);
  }) as unknown as typeof clearTimeout;
  Math.random = () => 0.5;
  let ids = 0;
  const nextId = () => {
    ids += 1;
    return running?.newId() ?? `id ${ids}`;
  };
  nodeCrypto.randomUUID = nextId as unknown as typeof nodeCrypto.randomUUID;
  nodeCrypto.randomBytes = ((size: number) => Buffer.alloc(size, nextId())) as typeof nodeCrypto.randomBytes;
  syncBuiltinESMExports();
}

const interned = new Map<string, number>();
function intern(text: string): number {
  const known = interned.get(text);
  if (known !== undefined) return known;
  interned.set(text, interned.size);
  return interned.size - 1;
}

export class World {
  readonly double: TableDouble;
  readonly operations: Operation[] = [];
  readonly taken: string[] = [];
  /** Those that have happened. */
  readonly faults: Fault[] = [];
  /** What the code has counted of itself: names of metrics. */
  readonly events: string[] = [];
  readonly #mostFaults: number;
  /** Processes that a written row begins: what the stream and the queue bring. */
  onRecord: (item: Item) => { name: string; script: Script } | undefined = () => undefined;
  #processes: Process[] = [];
  #pending: Pending[] = [];
  /** Sent by what waits for it no more: may arrive at any time, or never. */
  #onTheirWay: Pending[] = [];
  #failures: string[] = [];
  /** Each begins when the process that it comes of is over: the queue holds messages back so long. */
  #begun: { name: string; script: Script; of?: Process | undefined }[] = [];

  constructor(rows: Rows, faults: number) {
    this.double = new TableDouble(rows);
    this.#mostFaults = faults;
    this.double.onWrite = (item) => {
      const begun = this.onRecord(item);
      if (begun && !this.#processes.some(({ name }) => name === begun.name))
        this.#begun.push({ ...begun, of: running });
    };
  }

  get #faultsLeft(): number {
    return this.#mostFaults - this.faults.length;
  }

  /** Begins a process: it runs until it waits for the table. @param aheadMs of its clock */
  async begin(as: string, script: Script, { message = false, aheadMs = 0 } = {}): Promise<void> {
    let name = as;
    while (this.#processes.some((other) => other.name === name)) name += "'";
    const process = new Process(name, script, { message, clockMs: START_MS + aheadMs });
    this.#processes.push(process);
    await this.#run(process, () => {
      let operation: Operation | undefined;
      const table = connectDouble((request, signal) => this.#send(process, request, signal, operation));
      const surroundings: Surroundings = {
        deps: {
          ...depsOver(table, { now: () => process.clockMs, newId: process.newId }),
          metrics: { call: silent, event: (event) => void this.events.push(event) },
        },
        pause: async (ms = 0) => {
          await this.#send(process, undefined, undefined, operation);
          await process.sleep(ms);
        },
        call: async (called, act) => {
          process.clockMs += 1;
          const before = this.operations.filter((each) => each.name === called).length;
          const own: Operation = { name: called, id: `${called} ${before}`, calls: 0 };
          operation = own;
          this.operations.push(own);
          try {
            const answer = await act();
            own.answer = answer;
            return answer;
          } catch (error) {
            own.error = error;
            throw error;
          } finally {
            own.ended = true;
            operation = undefined;
          }
        },
      };
      script(surroundings).then(
        () => {
          process.alive = false;
        },
        () => {
          process.alive = false;
          // The queue brings the message again.
          if (process.message) this.#begun.push({ name: `${name}'`, script });
        },
      );
    });
  }

  async #run(process: Process, act: () => void): Promise<void> {
    running = process;
    act();
    await drained();
    running = undefined;
    await this.#beginDue();
  }

  async #beginDue(): Promise<void> {
    for (const next of this.#begun.filter(({ of }) => !of?.alive)) {
      this.#begun.splice(this.#begun.indexOf(next), 1);
      await this.begin(next.name, next.script, { message: true });
    }
  }

  #send(
    process: Process,
    request: Request | undefined,
    signal: AbortSignal | undefined,
    operation: Operation | undefined,
  ): Promise<unknown> {
    if (signal?.aborted) return Promise.reject(abortError());
    process.calls += 1;
    if (operation) operation.calls += 1;
    const name = `${process.name} ${process.calls}`;
    return new Promise((resolve, reject) => {
      const pending: Pending = { name, process, request: withToken(request, name), operation, resolve, reject };
      this.#pending.push(pending);
      signal?.addEventListener('abort', () => {
        if (!this.#remove(pending)) return;
        this.#arriveLater(pending);
        reject(abortError());
      });
    });
  }

  #remove(pending: Pending): boolean {
    const index = this.#pending.indexOf(pending);
    if (index >= 0) this.#pending.splice(index, 1);
    return index >= 0;
  }

  #arriveLater(pending: Pending): void {
    if (pending.request && writes(pending.request)) this.#onTheirWay.push(pending);
  }

  /** The operation of a call begins with the first of its calls that is taken. */
  #beginOperation({ process, operation }: Pending): void {
    if (!operation || operation.after) return;
    operation.after = this.operations.filter(({ ended }) => ended).map(({ id: ended }) => ended);
    process.history = `${intern(process.history)} begins after ${operation.after}`;
  }

  /** All that can happen next. */
  steps(): Step[] {
    const steps: Step[] = [];
    const add = (name: string, process: string, request: Request | undefined, begins: boolean, fault?: Fault) =>
      steps.push({
        name: fault ? `${name} ${fault}` : name,
        process,
        fault,
        begins,
        accesses: request && (fault === undefined || fault.startsWith('is applied')) ? accessesOf(request) : [],
      });
    // What a process has under way at once is taken in the order in which it was sent.
    const alive = [...new Map(this.#pending.toReversed().map((pending) => [pending.process, pending])).values()];
    for (const { name, process, request, operation } of alive) {
      const begins = operation !== undefined && operation.after === undefined;
      add(name, process.name, request, begins);
      if (this.#faultsLeft === 0 || !request) continue;
      if (writes(request)) {
        add(name, process.name, request, begins, 'is applied, its reply lost, and sent again');
        add(name, process.name, request, begins, 'is applied, and all its replies lost');
      }
      add(name, process.name, request, begins, 'gets no reply');
      add(name, process.name, request, begins, 'is throttled');
      if (writes(request) && request.name !== 'BatchWriteCommand')
        add(name, process.name, request, begins, 'meets another transaction');
    }
    for (const { name, request, operation } of this.#onTheirWay)
      add(`${name} arrives late`, name, request, operation !== undefined && operation.after === undefined);
    if (this.#faultsLeft > 0)
      for (const process of new Set(alive.map((pending) => pending.process))) {
        add(process.name, process.name, undefined, false, 'dies');
        if (process.timers.length > 0) add(process.name, process.name, undefined, false, 'runs out of time');
        if (process.message && process.calls === 1) add(process.name, process.name, undefined, false, 'comes twice');
      }
    return steps;
  }

  /** Whether all that went wrong are lost replies: the table can tell what they were. */
  isSettled = () => !this.#isUnclear && this.faults.every((fault) => fault.startsWith('is applied'));
  /** A reply that was lost was a refusal: that leaves no trace. */
  #isUnclear = false;

  /** Whether nobody waits for anything: only what is late can still arrive. */
  isOver = () => this.#pending.length === 0;

  /** @returns false when there is no such step now */
  async take(step: string): Promise<boolean> {
    const late = this.#onTheirWay.findIndex(({ name }) => step === `${name} arrives late`);
    if (late >= 0) {
      const [pending] = this.#onTheirWay.splice(late, 1) as [Pending];
      this.taken.push(describe(step, pending.request));
      this.#beginOperation(pending);
      await this.#run(pending.process, () => void this.#apply(pending.request as Request, pending.process));
      return true;
    }
    const pending = this.#pending.find(
      ({ name }) => step === name || (step.startsWith(`${name} `) && isFault(step.slice(name.length + 1))),
    );
    if (pending) {
      const fault = step.slice(pending.name.length + 1) as Fault | '';
      if (fault && this.#faultsLeft === 0) return false;
      this.taken.push(describe(step, pending.request));
      await this.#reply(pending, fault || undefined);
      return true;
    }
    const process = this.#processes.find(
      ({ name, alive }) => alive && step.startsWith(`${name} `) && isFault(step.slice(name.length + 1)),
    );
    if (!process || this.#faultsLeft === 0) return false;
    this.taken.push(step);
    await this.#disturb(process, step.slice(process.name.length + 1) as Fault);
    return true;
  }

  async #disturb(process: Process, fault: Fault): Promise<void> {
    this.faults.push(fault);
    process.history = `${intern(process.history)} ${fault}`;
    if (fault === 'comes twice') return this.begin(`${process.name} again`, process.script, { message: true });
    if (fault === 'runs out of time') return this.#run(process, () => void process.fireNext());
    process.alive = false;
    for (const pending of this.#pending.filter((each) => each.process === process)) {
      this.#remove(pending);
      this.#arriveLater(pending);
    }
    if (process.message) this.#begun.push({ name: `${process.name}'`, script: process.script });
    await this.#beginDue();
  }

  async #reply(pending: Pending, fault: Fault | undefined): Promise<void> {
    const { process, request } = pending;
    this.#beginOperation(pending);
    if (fault) this.faults.push(fault);
    if (fault === 'is applied, its reply lost, and sent again') {
      // It goes on waiting: for the reply to the next attempt.
      process.history = `${intern(process.history)} ${pending.name} sent again`;
      return this.#run(process, () => void this.#apply(request as Request, process));
    }
    this.#remove(pending);
    let [reply, error]: [unknown, unknown] = [undefined, undefined];
    if (fault === 'gets no reply' || fault === 'is applied, and all its replies lost') {
      if (fault === 'gets no reply') this.#arriveLater(pending);
      else if (this.#apply(request as Request, process).error) this.#isUnclear = true;
      error = Object.assign(new Error('no reply'), { name: 'TimeoutError' });
    } else if (fault) ({ reply, error } = refusal(fault, request as Request));
    else if (request) ({ reply, error } = this.#apply(request, process));
    process.history = `${intern(process.history)} ${pending.name} ${canonical(reply)} ${error ? `${(error as Error).name} ${canonical(error)}` : ''}`;
    await this.#run(process, () => (error ? pending.reject(error) : pending.resolve(reply)));
  }

  #apply(request: Request, process: Process): { reply?: unknown; error?: unknown } {
    running = process;
    if (!writes(request) && !isConsistent(request)) this.#failures.push(`${request.name} is not strongly consistent`);
    try {
      return { reply: this.double.apply(request) };
    } catch (error) {
      if (!(error instanceof DynamoDBServiceException)) this.#failures.push(String(error));
      return { error };
    } finally {
      running = undefined;
    }
  }

  /** Mistakes of the code that no run is to make, and of the simulation itself. */
  get failures(): readonly string[] {
    return this.#failures;
  }

  /** Two runs with the same key have the same future, and the same things to be judged by. */
  key(): string {
    const processes = this.#processes.map(({ name, history, alive }) => `${name} ${intern(history)} ${alive}`).sort();
    const late = this.#onTheirWay.map(({ name, request }) => intern(`${name} ${canonical(request?.input)}`)).sort();
    const tokens = [...this.double.tokens.keys()].sort();
    return [
      this.#faultsLeft,
      this.isSettled(),
      intern(this.double.state()),
      intern(processes.join()),
      intern(tokens.join()),
      late,
    ].join(' ');
  }
}

const isFault = (text: string): text is Fault => text in FAULTS;
const writes = (request: Request) => accessesOf(request).some(({ write }) => write);

const isConsistent = ({ input }: Request) =>
  (input.ConsistentRead ??
    Object.values((input.RequestItems ?? {}) as Record<string, { ConsistentRead?: boolean }>)[0]?.ConsistentRead) ===
  true;

/** The SDK gives each transaction that has none a token, the same for all its attempts. */
const withToken = (request: Request | undefined, token: string): Request | undefined =>
  request?.name === 'TransactWriteCommand'
    ? { ...request, input: { ClientRequestToken: token, ...request.input } }
    : request;

/** How DynamoDB refuses a call that it does not do. */
function refusal(fault: Fault, { name, input }: Request): { reply?: unknown; error?: unknown } {
  const $metadata = { httpStatusCode: 400 };
  const canceled = (Code: string) =>
    new TransactionCanceledException({
      message: Code,
      $metadata,
      CancellationReasons: input.TransactItems.map(() => ({ Code })),
    });
  if (fault === 'meets another transaction')
    return {
      error:
        name === 'TransactWriteCommand'
          ? canceled('TransactionConflict')
          : new TransactionConflictException({ message: fault, $metadata }),
    };
  if (name === 'TransactWriteCommand') return { error: canceled('ThrottlingError') };
  if (name === 'BatchGetCommand') return { reply: { Responses: {}, UnprocessedKeys: input.RequestItems } };
  if (name === 'BatchWriteCommand') return { reply: { UnprocessedItems: input.RequestItems } };
  return { error: new ProvisionedThroughputExceededException({ message: fault, $metadata }) };
}

/** A step for people: what is asked of which rows. */
function describe(step: string, request: Request | undefined): string {
  if (!request) return `${step} (goes on)`;
  const rows = accessesOf(request).map(({ pk = '*', sk = '*', write }) =>
    `${write ? 'write' : 'read'} ${pk} ${sk}`.replace(/0{8,}/g, '…'),
  );
  return `${step}: ${request.name.replace('Command', '')} ${rows.join('; ')}`;
}
