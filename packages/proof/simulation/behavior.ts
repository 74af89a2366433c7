/**
 * What a process does, recorded by running it. Between two of its calls to the table a process runs alone, so its next step depends only on
 * what was delivered to it before. Each such part is run once, with the real code, and recorded: a schedule of recorded parts takes no
 * time.
 */
import { connectDouble } from './double-client.ts';
import { abortError, digest, drained, Process, type ProcessOptions, setRunning } from './process.ts';
import { depsOver, type OperationLimits, type Script, START_MS, type Surroundings, silent } from './surroundings.ts';
import { type Access, accessesOf, type Request } from './table-double.ts';
import { canonical } from './values.ts';

/** A call to the table; without a request: a pause between operations. */
export interface Call {
  /** Equal in each run of its process with the same deliveries. */
  readonly name: string;
  readonly process: string;
  readonly request: Request | undefined;
  /** Stands for the request. */
  readonly text: string;
  readonly accesses: readonly Access[];
  readonly writes: boolean;
  /** Id of the operation that makes it. */
  readonly operation: string | undefined;
  /** The code retries the transaction itself. */
  readonly ownToken: boolean;
}

/** What is delivered to a process: a reply to one of its calls, an error, or the end of its next timer. */
export type Delivery =
  | { readonly id: number | string; readonly text: string; readonly give: () => { reply?: unknown; error?: unknown } }
  | 'runs out of time';

export type Effect =
  | ({ readonly kind: 'operation'; readonly id: string; readonly name: string } & OperationLimits)
  | { readonly kind: 'calls'; readonly id: string; readonly calls: number }
  | { readonly kind: 'ended'; readonly id: string; readonly answer?: unknown; readonly error?: unknown }
  | { readonly kind: 'left'; readonly call: Call }
  | { readonly kind: 'event'; readonly name: string };

/** A process that has received a delivery and waits. */
export interface Position {
  readonly id: number;
  /** In the order in which they were sent. */
  readonly calls: readonly Call[];
  readonly hasTimers: boolean;
  /** It has made exactly one call. */
  readonly isFresh: boolean;
  readonly over: 'done' | 'failed' | undefined;
  /** The last delivery, and where; absent: none. */
  readonly came?: { readonly from: Position; readonly delivery: Delivery; readonly call: Call | undefined };
  /** By the next delivery. */
  readonly next: Map<string, Reaction>;
}

export interface Reaction {
  readonly to: Position;
  readonly effects: readonly Effect[];
}

export interface BehaviorOptions extends Pick<ProcessOptions, 'message'> {
  /** Of its clock. */
  aheadMs?: number;
}

let positions = 0;

export class Behavior {
  readonly #start: () => Promise<Run>;
  readonly #known = new Map<string, Position>();
  /** The latest run that reached a position: it can take further deliveries. */
  #latest: { at: Position; run: Run } | undefined;
  #first: Reaction | undefined;

  constructor(name: string, script: Script, options: BehaviorOptions) {
    this.#start = async () => {
      const run = new Run(name, script, options);
      await run.begin(script);
      return run;
    };
  }

  async first(): Promise<Reaction> {
    if (!this.#first) {
      const run = await this.#start();
      this.#first = this.#reaction(run, undefined);
    }
    return this.#first;
  }

  async deliver(at: Position, delivery: Delivery, call?: Call): Promise<Reaction> {
    const key = delivery === 'runs out of time' ? delivery : `${call?.name} ${delivery.id}`;
    let reaction = at.next.get(key);
    if (!reaction) {
      const run = await this.#runAt(at);
      await run.deliver(delivery, call);
      reaction = this.#reaction(run, { from: at, delivery, call });
      at.next.set(key, reaction);
    }
    return reaction;
  }

  async #runAt(position: Position): Promise<Run> {
    if (this.#latest?.at === position) return this.#latest.run;
    this.#latest?.run.close();
    const came: NonNullable<Position['came']>[] = [];
    for (let at = position; at.came; at = at.came.from) came.push(at.came);
    const run = await this.#start();
    for (const { delivery, call } of came.reverse()) await run.deliver(delivery, call);
    requireSame(run, position);
    return run;
  }

  #reaction(run: Run, came: Position['came']): Reaction {
    const { history, timers, calls: made } = run.process;
    let to = this.#known.get(history);
    if (to) requireSame(run, to);
    else {
      positions += 1;
      const calls = run.waiting.map(({ call }) => call);
      const next: Position['next'] = new Map();
      to = {
        id: positions,
        calls,
        hasTimers: timers.length > 0,
        isFresh: made === 1,
        over: run.over,
        ...(came && { came }),
        next,
      };
      this.#known.set(history, to);
    }
    this.#latest = { at: to, run };
    return { to, effects: run.effects };
  }
}

function requireSame(run: Run, { calls, over }: Position): void {
  const is = [...run.waiting.map(({ call }) => call), run.over].map(textOf).join('\n');
  const was = [...calls, over].map(textOf).join('\n');
  if (is !== was) throw new Error(`a process does not do the same after the same deliveries:\n${was}\nand then\n${is}`);
}
const textOf = (each: Call | string | undefined) => (typeof each === 'object' ? `${each.name} ${each.text}` : each);

interface Waiting {
  readonly call: Call;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Stops waiting for the call's signal: Node keeps signals that have listeners. */
  readonly leave: () => void;
}

/** A process that runs. */
class Run {
  readonly process: Process;
  readonly waiting: Waiting[] = [];
  /** Of the last delivery. */
  effects: Effect[] = [];
  over: Position['over'];
  #operations = 0;

  constructor(name: string, script: Script, { aheadMs = 0, ...options }: BehaviorOptions) {
    this.process = new Process(name, script, { ...options, clockMs: START_MS + aheadMs });
  }

  async begin(script: Script): Promise<void> {
    await this.#run(() => {
      script(this.#surroundings()).then(
        () => {
          this.over = 'done';
        },
        () => {
          this.over = 'failed';
        },
      );
    });
  }

  async deliver(delivery: Delivery, answered?: Call): Promise<void> {
    const { process } = this;
    this.effects = [];
    if (delivery === 'runs out of time') {
      process.history = `${digest(process.history)} ${delivery}`;
      await this.#run(() => void process.fireNext());
      return;
    }
    const { call, resolve, reject } = this.#remove(answered?.name) as Waiting;
    process.history = `${digest(process.history)} ${call.name} ${delivery.text}`;
    const { reply, error } = delivery.give();
    // A copy, since the code may change its arguments.
    await this.#run(() => (error === undefined ? resolve(structuredClone(reply)) : reject(error)));
  }

  async #run(act: () => void): Promise<void> {
    setRunning(this.process);
    act();
    await drained();
    setRunning(undefined);
  }

  #remove(name: string | undefined): Waiting | undefined {
    const index = this.waiting.findIndex(({ call }) => call.name === name);
    const [removed] = index < 0 ? [] : this.waiting.splice(index, 1);
    removed?.leave();
    return removed;
  }

  #surroundings(): Surroundings {
    const { process } = this;
    let current: { id: string; calls: number } | undefined;
    const send = (request: Request | undefined, signal?: AbortSignal) => {
      if (signal?.aborted) return Promise.reject(abortError());
      if (current) {
        current.calls += 1;
        this.effects.push({ kind: 'calls', ...current });
      }
      return this.#send(request, signal, current?.id);
    };
    return {
      deps: {
        ...depsOver(connectDouble(send), { now: () => Math.floor(process.clockMs), newId: process.newId }),
        metrics: { call: silent, records: silent, event: (name) => void this.effects.push({ kind: 'event', name }) },
      },
      pause: async (ms = 0) => {
        await send(undefined);
        await process.sleep(ms);
      },
      call: async (name, act, { forgets = false, ...limits } = {}) => {
        process.clockMs += 1;
        const id = `${this.#operations} of ${process.name}`;
        this.#operations += 1;
        current = { id, calls: 0 };
        this.effects.push({ kind: 'operation', id, name, ...limits });
        let known = '';
        try {
          const answer = await act();
          known = outcomeOf({ answer });
          this.effects.push({ kind: 'ended', id, answer });
          return answer;
        } catch (error) {
          known = outcomeOf({ error });
          this.effects.push({ kind: 'ended', id, error });
          throw error;
        } finally {
          current = undefined;
          if (forgets) process.forget(known);
        }
      },
    };
  }

  #send(
    request: Request | undefined,
    signal: AbortSignal | undefined,
    operation: string | undefined,
  ): Promise<unknown> {
    const call = callOf(this.process, request, operation);
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        if (!this.#remove(call.name)) return;
        this.effects.push({ kind: 'left', call });
        reject(abortError());
      };
      const leave = () => signal?.removeEventListener('abort', onAbort);
      this.waiting.push({ call, resolve, reject, leave });
      signal?.addEventListener('abort', onAbort);
    });
  }

  close(): void {
    for (const { leave } of this.waiting) leave();
  }
}

function callOf(process: Process, asked: Request | undefined, operation: string | undefined): Call {
  const name = process.nextCall();
  const ownToken = asked?.input.ClientRequestToken !== undefined;
  const request = withToken(asked, name);
  const accesses = request ? accessesOf(request) : [];
  return {
    name,
    process: process.name,
    request,
    text: request ? `${request.name} ${canonical(request.input)}` : '',
    accesses,
    writes: accesses.some(({ write }) => write),
    operation,
    ownToken,
  };
}

/** The SDK adds a token to a transaction without one, the same for all its attempts. */
const withToken = (request: Request | undefined, token: string): Request | undefined =>
  request?.name === 'TransactWriteCommand'
    ? { ...request, input: { ClientRequestToken: token, ...request.input } }
    : request;

/** The answer of an operation, or its error, as text. */
export const outcomeOf = ({ answer, error }: { answer?: unknown; error?: unknown }): string =>
  error === undefined ? canonical(answer) : `${(error as Error).name} ${(error as Error).message} ${canonical(error)}`;
