/**
 * One run of real code under a scheduler: processes, each with a clock of its own, and their calls to the table, each of which
 * waits until the scheduler takes it. Between two of its calls a process runs alone and to its end, so it is a function of the
 * replies that it got; and a run is a function of the steps that were taken.
 */
import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { connectDouble } from './double-client.ts';
import { type Fault, isFault, refusal } from './faults.ts';
import { abortError, drained, intern, Process, type ProcessOptions, running, setRunning } from './process.ts';
import { depsOver, type Operation, type Script, START_MS, type Surroundings, silent } from './surroundings.ts';
import { type Access, accessesOf, type Request, type Rows, TableDouble } from './table-double.ts';
import { canonical, type Item } from './values.ts';

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

/** A process that a message begins. */
export interface Message {
  name: string;
  script: Script;
  /** At once; otherwise when the process is over whose write it tells of: the queue holds messages back so long. */
  early?: boolean;
}

interface BeginOptions extends Pick<ProcessOptions, 'message' | 'chance'> {
  /** Of its clock. */
  aheadMs?: number;
}

interface Pending {
  readonly name: string;
  readonly process: Process;
  /** undefined: a pause between operations. */
  readonly request: Request | undefined;
  readonly operation: Operation | undefined;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Waits for the signal of the call no more: Node keeps signals that somebody waits for. */
  leave: () => void;
}

/** Of one operation. A merge that loses once has some ten. */
const MOST_CALLS = 12;

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
  onRecord: (item: Item) => readonly Message[] = () => [];
  #processes: Process[] = [];
  #pending: Pending[] = [];
  /** Sent by what waits for it no more: may arrive at any time, or never. */
  #onTheirWay: Pending[] = [];
  #failures: string[] = [];
  #begun: (Message & { of?: Process | undefined })[] = [];

  constructor(rows: Rows, faults: number) {
    this.double = new TableDouble(rows);
    this.#mostFaults = faults;
    this.double.onWrite = (item) => {
      for (const message of this.onRecord(item))
        if (!this.#processes.some(({ name }) => name === message.name))
          this.#begun.push({ ...message, ...(!message.early && { of: running }) });
    };
  }

  get #faultsLeft(): number {
    return this.#mostFaults - this.faults.length;
  }

  /** Begins a process: it runs until it waits for the table. */
  async begin(as: string, script: Script, { aheadMs = 0, ...options }: BeginOptions = {}): Promise<void> {
    let name = as;
    while (this.#processes.some((other) => other.name === name)) name += "'";
    const process = new Process(name, script, { ...options, clockMs: START_MS + aheadMs });
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
        call: async (called, act, { forgets = false, repeats = false, mostCalls } = {}) => {
          process.clockMs += 1;
          const before = this.operations.filter((each) => each.name === called).length;
          const own: Operation = {
            name: called,
            id: `${called} ${before}`,
            calls: 0,
            repeats,
            ...(mostCalls !== undefined && { mostCalls }),
          };
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
            if (forgets) process.forget(outcomeOf(own));
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
    setRunning(process);
    act();
    await drained();
    setRunning(undefined);
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
    if (operation) operation.calls += 1;
    if (operation?.mostCalls !== undefined && operation.calls === operation.mostCalls + 1)
      this.#failures.push(`"${operation.name}" makes more than ${operation.mostCalls} calls`);
    const name = process.nextCall();
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        if (!this.#remove(pending)) return;
        this.#arriveLater(pending);
        reject(abortError());
      };
      const leave = () => signal?.removeEventListener('abort', onAbort);
      const pending: Pending = { name, process, request: withToken(request, name), operation, resolve, reject, leave };
      this.#pending.push(pending);
      signal?.addEventListener('abort', onAbort);
    });
  }

  #remove(pending: Pending): boolean {
    const index = this.#pending.indexOf(pending);
    if (index >= 0) this.#pending.splice(index, 1);
    pending.leave();
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

  /** A transaction was throttled. */
  isThrottled = false;

  /**
   * Whether an operation has lost to others so often that nothing new can happen to it: under a scheduler that is against it,
   * it would go on so until its time is over.
   */
  isCut = () => this.operations.some(({ calls, mostCalls = MOST_CALLS }) => calls > mostCalls);

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
    if (fault === 'is throttled' && request?.name === 'TransactWriteCommand') this.isThrottled = true;
    if (fault === 'is applied, its reply lost, and sent again') {
      if (pending.operation?.repeats) {
        const { name, id, after = [] } = pending.operation;
        this.operations.push({ name, id: `${id}, first time`, calls: 1, after, optional: true });
      }
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
    setRunning(process);
    if (request.name !== 'TransactWriteCommand' && !writes(request) && !isConsistent(request))
      this.#failures.push(`${request.name} is not strongly consistent`);
    try {
      return { reply: this.double.apply(request) };
    } catch (error) {
      if (!(error instanceof DynamoDBServiceException)) this.#failures.push(String(error));
      return { error };
    } finally {
      setRunning(undefined);
    }
  }

  /** Mistakes of the code that no run is to make, and of the simulation itself. */
  get failures(): readonly string[] {
    return this.#failures;
  }

  /** Forgets all that it waits for: nobody needs it any more. */
  close(): void {
    for (const pending of this.#pending) pending.leave();
  }

  /** Two runs with the same key have the same future, and the same things to be judged by. */
  key(): string {
    // What a process was told that is over, nobody will know again: but for the answers that it gave.
    const processes = this.#processes.map(({ name, history, alive }) => `${name} ${alive ? intern(history) : 'over'}`);
    const operations = this.operations.map(
      (one) => `${one.id} after ${one.after} ${one.calls > 0} ${one.ended ? outcomeOf(one) : ''}`,
    );
    const late = this.#onTheirWay.map(({ name, request }) => intern(`${name} ${canonical(request?.input)}`));
    const mayComeAgain = [...this.#pending, ...this.#onTheirWay].map(
      ({ request }) => request?.input.ClientRequestToken,
    );
    const tokens = mayComeAgain.filter((token) => this.double.tokens.has(token));
    const judged = [this.isSettled(), this.faults, this.isThrottled, new Set(this.events), this.#failures.length];
    return [
      intern(this.double.state()),
      intern(processes.sort().join()),
      intern(operations.sort().join()),
      intern(canonical(judged)),
      late.sort(),
      tokens.sort(),
    ].join(' ');
  }
}

/** The answer that an operation gave, or the error. */
const outcomeOf = ({ answer, error }: Operation) =>
  error === undefined ? canonical(answer) : `${(error as Error).name} ${(error as Error).message} ${canonical(error)}`;

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

/** A step for people: what is asked of which rows. */
function describe(step: string, request: Request | undefined): string {
  if (!request) return `${step} (goes on)`;
  const rows = accessesOf(request).map(({ pk = '*', sk = '*', write }) =>
    `${write ? 'write' : 'read'} ${pk} ${sk}`.replace(/0{8,}/g, '…'),
  );
  return `${step}: ${request.name.replace('Command', '')} ${rows.join('; ')}`;
}
