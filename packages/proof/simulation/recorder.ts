/**
 * Records what a process does. Between two deliveries a process runs alone, so what it does next depends only on what was delivered to
 * it before. The real code runs once for each sequence of deliveries; schedules then use the recording, which takes no time.
 */
import { connectDouble } from './double-client.ts';
import { depsOver, type Environment, ignore, type OperationLimits, type Script, START_MS } from './environment.ts';
import { abortError, digest, Process, setRunning, settled } from './process.ts';
import { type Access, accessesOf, type Request } from './table-double.ts';
import { canonical } from './values.ts';

/** What a process runs. */
export interface Actor {
  readonly name: string;
  readonly script: Script;
  /** Milliseconds by which its clock is ahead. */
  readonly aheadMs?: number | undefined;
  /** Begins again after it fails or dies, and may begin twice: a message, or a command that an operator repeats. */
  readonly retried?: boolean;
}

/** A call to the table; without a request: a pause. */
export interface Call {
  /** Equal in each run of its process with the same deliveries. */
  readonly name: string;
  readonly process: string;
  readonly request: Request | undefined;
  /** The request as canonical text. */
  readonly text: string;
  readonly accesses: readonly Access[];
  readonly writes: boolean;
  /** Id of the operation that makes it. */
  readonly operation: string | undefined;
  /** Its ClientRequestToken is from the code, which may send the transaction again, and not from the SDK. */
  readonly ownToken: boolean;
}

/** The reply to a call, or an error. */
export interface Delivery {
  /** Equal for equal texts. */
  readonly id: number | string;
  readonly text: string;
  readonly reply?: unknown;
  readonly error?: unknown;
}
type AnyDelivery = Delivery | 'runs out of time';

/** What others notice of a process: operations that it begins and ends, their calls, abandoned calls, and metrics. */
export type Effect =
  | ({ readonly kind: 'operation'; readonly id: string; readonly name: string } & OperationLimits)
  | { readonly kind: 'calls'; readonly id: string; readonly calls: number }
  | { readonly kind: 'ended'; readonly id: string; readonly answer?: unknown; readonly error?: unknown }
  | { readonly kind: 'abandoned'; readonly call: Call }
  | { readonly kind: 'event'; readonly name: string };

/** A process that waits for its next delivery. */
export interface Position {
  readonly id: number;
  /** Those that wait for a reply, in the order in which they were sent. */
  readonly calls: readonly Call[];
  readonly hasTimers: boolean;
  /** It has made exactly one call. */
  readonly isFresh: boolean;
  readonly over: 'done' | 'failed' | undefined;
  /** The last delivery, and the position before it; absent: none. */
  readonly last?: { readonly from: Position; readonly delivery: AnyDelivery; readonly call: Call | undefined };
  /** What it does after each next delivery that was tried. */
  readonly next: Map<string, Reaction>;
}

export interface Reaction {
  readonly to: Position;
  readonly effects: readonly Effect[];
}

let positions = 0;

export class Recorder {
  readonly actor: Actor;
  /** By the history of the process. */
  readonly #positions = new Map<string, Position>();
  /** The run that was delivered to last: it can take further deliveries. */
  #latest: { at: Position; run: Run } | undefined;
  #first: Reaction | undefined;

  constructor(actor: Actor) {
    this.actor = actor;
  }

  async first(): Promise<Reaction> {
    this.#first ??= this.#reaction(await begun(this.actor), undefined);
    return this.#first;
  }

  async deliver(at: Position, delivery: AnyDelivery, call?: Call): Promise<Reaction> {
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
    const deliveries: NonNullable<Position['last']>[] = [];
    for (let at = position; at.last; at = at.last.from) deliveries.unshift(at.last);
    const run = await begun(this.actor);
    for (const { delivery, call } of deliveries) await run.deliver(delivery, call);
    requireSame(run, position);
    return run;
  }

  #reaction(run: Run, last: Position['last']): Reaction {
    const { history, timers, calls } = run.process;
    let to = this.#positions.get(history);
    if (to) requireSame(run, to);
    else {
      positions += 1;
      to = {
        id: positions,
        calls: run.waiting.map(({ call }) => call),
        hasTimers: timers.length > 0,
        isFresh: calls === 1,
        over: run.over,
        ...(last && { last }),
        next: new Map(),
      };
      this.#positions.set(history, to);
    }
    this.#latest = { at: to, run };
    return { to, effects: run.effects };
  }
}

/** @throws if the run does not wait for the same calls: the code then depends on more than deliveries */
function requireSame(run: Run, { calls, over }: Position): void {
  const is = [...run.waiting.map(({ call }) => call), run.over].map(textOf).join('\n');
  const was = [...calls, over].map(textOf).join('\n');
  if (is !== was) throw new Error(`a process did different things after the same deliveries:\n${was}\nand then\n${is}`);
}
const textOf = (each: Call | string | undefined) => (typeof each === 'object' ? `${each.name} ${each.text}` : each);

interface Waiting {
  readonly call: Call;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Stops listening to the call's signal: Node keeps signals that have listeners. */
  readonly unlisten: () => void;
}

async function begun(actor: Actor): Promise<Run> {
  const run = new Run(actor);
  await run.begin(actor.script);
  return run;
}

/** The real code of a process, run once. */
class Run {
  readonly process: Process;
  readonly waiting: Waiting[] = [];
  /** Those of the last delivery. */
  effects: Effect[] = [];
  over: Position['over'];
  #operations = 0;

  constructor({ name, aheadMs = 0 }: Actor) {
    this.process = new Process(name, START_MS + aheadMs);
  }

  async begin(script: Script): Promise<void> {
    const end = (over: Position['over']) => () => {
      this.over = over;
    };
    await this.#run(() => void script(this.#environment()).then(end('done'), end('failed')));
  }

  async deliver(delivery: AnyDelivery, answered?: Call): Promise<void> {
    const { process } = this;
    this.effects = [];
    if (delivery === 'runs out of time') {
      process.history = `${digest(process.history)} ${delivery}`;
      await this.#run(() => void process.fireNext());
      return;
    }
    const { call, resolve, reject } = this.#remove(answered?.name) as Waiting;
    process.history = `${digest(process.history)} ${call.name} ${delivery.text}`;
    const { reply, error } = delivery;
    // A copy, since the code may change its arguments.
    await this.#run(() => (error === undefined ? resolve(structuredClone(reply)) : reject(error)));
  }

  async #run(act: () => void): Promise<void> {
    setRunning(this.process);
    act();
    await settled();
    setRunning(undefined);
  }

  #remove(name: string | undefined): Waiting | undefined {
    const index = this.waiting.findIndex(({ call }) => call.name === name);
    const [removed] = index < 0 ? [] : this.waiting.splice(index, 1);
    removed?.unlisten();
    return removed;
  }

  #environment(): Environment {
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
      deps: depsOver(connectDouble(send), {
        now: () => Math.floor(process.clockMs),
        newId: process.newId,
        metrics: { call: ignore, records: ignore, event: (name) => void this.effects.push({ kind: 'event', name }) },
      }),
      pause: async (ms) => {
        await send(undefined);
        await process.sleep(ms);
      },
      call: async (name, act, { forgets = false, ...limits } = {}) => {
        process.clockMs += 1;
        const id = `${this.#operations} of ${process.name}`;
        this.#operations += 1;
        current = { id, calls: 0 };
        this.effects.push({ kind: 'operation', id, name, ...limits });
        let outcome = '';
        try {
          const answer = await act();
          outcome = outcomeOf({ answer });
          this.effects.push({ kind: 'ended', id, answer });
          return answer;
        } catch (error) {
          outcome = outcomeOf({ error });
          this.effects.push({ kind: 'ended', id, error });
          throw error;
        } finally {
          current = undefined;
          if (forgets) process.forget(outcome);
        }
      },
    };
  }

  #send(
    request: Request | undefined,
    signal: AbortSignal | undefined,
    operation: string | undefined,
  ): Promise<unknown> {
    const call = tableCallOf(this.process, request, operation);
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        if (!this.#remove(call.name)) return;
        this.effects.push({ kind: 'abandoned', call });
        reject(abortError());
      };
      const unlisten = () => signal?.removeEventListener('abort', onAbort);
      this.waiting.push({ call, resolve, reject, unlisten });
      signal?.addEventListener('abort', onAbort);
    });
  }

  close(): void {
    for (const { unlisten } of this.waiting) unlisten();
  }
}

function tableCallOf(process: Process, asked: Request | undefined, operation: string | undefined): Call {
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
