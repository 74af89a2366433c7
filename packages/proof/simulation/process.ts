/** Simulated processes, each with a clock of its own. One runs at a time, and the code gets its time and randomness from that one. */
import nodeCrypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { START_MS } from './environment.ts';

interface Timer {
  readonly atMs: number;
  readonly fire: () => void;
}

export const abortError = () => Object.assign(new Error('aborted'), { name: 'AbortError' });
const realImmediate = setImmediate;
/** Resolves when the running process waits: all its promise callbacks have run. */
export const settled = () => new Promise((resolve) => realImmediate(resolve));

let running: Process | undefined;
export const setRunning = (process: Process | undefined): void => {
  running = process;
};

/** A short text for a long one; distinct texts have distinct digests. */
export const digest = (text: string): string => nodeCrypto.hash('sha1', text, 'base64');

export class Process {
  readonly name: string;
  clockMs: number;
  timers: Timer[] = [];
  /** Everything delivered to it, as text: determines what it does next. */
  history: string;
  /** Number of calls to the table. */
  calls = 0;
  #ids = 0;

  constructor(name: string, clockMs = START_MS) {
    this.name = name;
    this.clockMs = clockMs;
    this.history = name;
  }

  /** Counts a call to the table. @returns its name */
  nextCall(): string {
    this.calls += 1;
    return `${this.name} ${this.calls}`;
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

  /** Fires the earliest timer that ends by `untilMs`. @returns false when there is none */
  fireNext(untilMs = Number.POSITIVE_INFINITY): boolean {
    const [next] = this.timers.toSorted((a, b) => a.atMs - b.atMs);
    if (!next || next.atMs > untilMs) return false;
    this.timers = this.timers.filter((timer) => timer !== next);
    this.clockMs = Math.max(this.clockMs, next.atMs);
    next.fire();
    return true;
  }

  /** Advances only the clock of this process. Others need not run meanwhile: the scheduler can run them before its next call. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const until = this.clockMs + ms;
    while (!signal?.aborted && this.fireNext(until));
    if (signal?.aborted) throw abortError();
    this.clockMs = until;
  }
}

/** Replaces the timers and the randomness of this program, until it ends, by those of the simulated process that runs. */
export function virtualize(): void {
  const current = () => running ?? new Process('set-up');
  timers.setTimeout = ((ms: number, value: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    current()
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
    if (running) running.timers = running.timers.filter((waiting) => waiting !== timer);
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
