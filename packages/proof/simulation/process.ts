/** Processes with a clock each, one of which runs at a time, and what replaces time and randomness for them. */
import nodeCrypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { type Script, START_MS } from './surroundings.ts';

interface Timer {
  readonly atMs: number;
  readonly fire: () => void;
}

export const abortError = () => Object.assign(new Error('aborted'), { name: 'AbortError' });
const realImmediate = setImmediate;
export const drained = () => new Promise((resolve) => realImmediate(resolve));

/** The process whose code is running. */
let running: Process | undefined;
export const setRunning = (process: Process | undefined): void => {
  running = process;
};

/** A short name for a text; distinct texts have distinct names. */
export const digest = (text: string): string => nodeCrypto.hash('sha1', text, 'base64');

export interface ProcessOptions {
  /** Handles a message, which is delivered again after a failure. */
  message?: boolean;
  clockMs?: number;
}

export class Process {
  readonly name: string;
  readonly script: Script;
  readonly message: boolean;
  clockMs: number;
  timers: Timer[] = [];
  /** All deliveries to it, which determine what it does. */
  history: string;
  /** Calls to the table since it last forgot its history. */
  calls = 0;
  #forgotten = 0;
  #ids = 0;

  constructor(name: string, script: Script, { message = false, clockMs = START_MS }: ProcessOptions) {
    this.name = name;
    this.script = script;
    this.message = message;
    this.clockMs = clockMs;
    this.history = name;
  }

  /** Its deliveries no longer decide what it does, only its clock. @param known what it knows still */
  forget(known: string): void {
    this.#forgotten += 1;
    this.calls = 0;
    this.timers = [];
    this.history = `${this.name} ${this.#forgotten} ${this.clockMs} ${this.#ids} ${known}`;
  }

  /** The name of the next call to the table. */
  nextCall(): string {
    this.calls += 1;
    return `${this.name} ${this.#forgotten > 0 ? `${this.#forgotten + 1}.` : ''}${this.calls}`;
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

  /**
   * Fires the earliest timer if it is due.
   * @returns false when there is none
   */
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

  /** Advances only this process's clock: what others do meanwhile could as well happen before its next call. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const until = this.clockMs + ms;
    while (!signal?.aborted && this.fireNext(until));
    if (signal?.aborted) throw abortError();
    this.clockMs = until;
  }
}

/** Replaces time and randomness by those of the running process until this program ends. */
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
