/** One run of a process: the real code, whose calls to the table wait for replies. */
import { connectDouble } from './double-client.ts';
import { type Allowances, depsOver, type Environment, ignore, type Script, START_MS } from './environment.ts';
import { abortError, digest, Process, setRunning, settled } from './process.ts';
import { type Access, accessesOf, type Request } from './requests.ts';
import { canonical } from './values.ts';

/** What a process runs. */
export interface Actor {
  readonly name: string;
  readonly script: Script;
  /** Milliseconds by which its clock is ahead. */
  readonly aheadMs?: number | undefined;
  /** Whether it starts again after it fails or dies, and may start twice: a message, or a command that an operator repeats. */
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
  /** Id of the invocation that makes it. */
  readonly invocation: string | undefined;
}

/** What is delivered to a process: a reply or an error to one of its calls, or that its next timer has fired. */
export interface Delivery {
  /** Equal for equal texts. */
  readonly id: number | string;
  readonly text: string;
  readonly reply?: unknown;
  readonly error?: unknown;
}

/** An observable effect of a process: an invocation begins, makes a call or ends; a call is abandoned; a metric is emitted. */
export type Effect =
  | ({ readonly kind: 'begun'; readonly id: string; readonly name: string } & Allowances)
  | { readonly kind: 'calls'; readonly id: string; readonly calls: number }
  | { readonly kind: 'ended'; readonly id: string; readonly answer?: unknown; readonly error?: unknown }
  | { readonly kind: 'abandoned'; readonly call: Call }
  | { readonly kind: 'event'; readonly name: string };

interface Waiting {
  readonly call: Call;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Stops listening to the call's signal: Node keeps signals that have listeners. */
  readonly unlisten: () => void;
}

export class Run {
  readonly process: Process;
  readonly waiting: Waiting[] = [];
  /** The effects since the last delivery. */
  effects: Effect[] = [];
  over: 'done' | 'failed' | undefined;
  #invocations = 0;

  private constructor({ name, aheadMs = 0 }: Actor) {
    this.process = new Process(name, START_MS + aheadMs);
  }

  /** Runs the process until it waits for its first delivery. */
  static async start(actor: Actor): Promise<Run> {
    const run = new Run(actor);
    const endAs = (outcome: Run['over']) => () => {
      run.over = outcome;
    };
    await run.#untilItWaits(() => void actor.script(run.#environment()).then(endAs('done'), endAs('failed')));
    return run;
  }

  async deliver({ text, reply, error }: Delivery, call?: Call): Promise<void> {
    const { process } = this;
    this.effects = [];
    process.history = `${digest(process.history)} ${call?.name} ${text}`;
    if (!call) return this.#untilItWaits(() => void process.fireNext());
    const { resolve, reject } = this.#remove(call) as Waiting;
    // A copy, since the code may change the reply, which other schedules use, too.
    return this.#untilItWaits(() => (error === undefined ? resolve(structuredClone(reply)) : reject(error)));
  }

  async #untilItWaits(resume: () => void): Promise<void> {
    setRunning(this.process);
    resume();
    await settled();
    setRunning(undefined);
  }

  #remove({ name }: Call): Waiting | undefined {
    const index = this.waiting.findIndex(({ call }) => call.name === name);
    const [removed] = index < 0 ? [] : this.waiting.splice(index, 1);
    removed?.unlisten();
    return removed;
  }

  #environment(): Environment {
    const { process } = this;
    let current: { id: string; calls: number } | undefined;
    const send = async (request: Request | undefined, signal?: AbortSignal) => {
      if (signal?.aborted) throw abortError();
      if (current) {
        current.calls += 1;
        this.effects.push({ kind: 'calls', ...current });
      }
      return this.#send(tableCallOf(process, request, current?.id), signal);
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
      invoke: async (name, operation, allowances = {}) => {
        process.clockMs += 1;
        const id = `${this.#invocations} of ${process.name}`;
        this.#invocations += 1;
        current = { id, calls: 0 };
        this.effects.push({ kind: 'begun', id, name, ...allowances });
        const end = (outcome: { answer?: unknown; error?: unknown }) => {
          this.effects.push({ kind: 'ended', id, ...outcome });
          current = undefined;
          // A timer of an ended invocation fires without effect, so the fault 'runs out of time' must not choose it.
          process.timers = [];
        };
        try {
          const answer = await operation();
          end({ answer });
          return answer;
        } catch (error) {
          end({ error });
          throw error;
        }
      },
    };
  }

  #send(call: Call, signal: AbortSignal | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        if (!this.#remove(call)) return;
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

function tableCallOf(process: Process, original: Request | undefined, invocation: string | undefined): Call {
  const name = process.nextCall();
  const request = withToken(original, name);
  const accesses = request ? accessesOf(request) : [];
  return {
    name,
    process: process.name,
    request,
    text: request ? `${request.name} ${canonical(request.input)}` : '',
    accesses,
    writes: accesses.some(({ write }) => write),
    invocation,
  };
}

/** The SDK adds a token to a transaction without one, the same for all its attempts. */
const withToken = (request: Request | undefined, token: string): Request | undefined =>
  request?.name === 'TransactWriteCommand'
    ? { ...request, input: { ClientRequestToken: token, ...request.input } }
    : request;

/** The answer of an invocation, or its error, as text. */
export const outcomeOf = ({ answer, error }: { answer?: unknown; error?: unknown }): string =>
  error === undefined ? canonical(answer) : `${(error as Error).name} ${(error as Error).message} ${canonical(error)}`;
