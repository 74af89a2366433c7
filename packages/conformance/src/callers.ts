/** The callers: app keys, and when each may browse the fleet again according to the rate headers. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Caller {
  readonly appKey: string;
}

const MAX_WAIT_MS = 61_000;

/**
 * Callers take turns, so that one caller's limit does not delay the others. Each has one call at a time.
 * @param asked callers used only on request
 */
export function createTurns(callers: readonly Caller[], asked: readonly Caller[] = []) {
  const readyAt = new Map([...callers, ...asked].map((caller) => [caller, 0]));
  const busy = new Map<Caller, Promise<void>>();
  /** The longest idle come first. */
  const order = [...callers];

  function next(caller?: Caller): Caller | undefined {
    const free = (caller ? [caller] : order).filter((one) => !busy.has(one));
    return free.sort((one, other) => (readyAt.get(one) ?? 0) - (readyAt.get(other) ?? 0))[0];
  }

  /** Runs a call as soon as a caller is ready for it: the given one, or any. */
  async function take<Result>(caller: Caller | undefined, call: (caller: Caller) => Promise<Result>): Promise<Result> {
    if (caller && !readyAt.has(caller)) return call(caller);
    let taken = next(caller);
    while (taken === undefined) {
      await Promise.race(busy.values());
      taken = next(caller);
    }
    const done = Promise.withResolvers<void>();
    busy.set(taken, done.promise);
    if (order.includes(taken)) order.push(...order.splice(order.indexOf(taken), 1));
    try {
      await sleep(Math.min(MAX_WAIT_MS, Math.max(0, (readyAt.get(taken) ?? 0) - Date.now())));
      return await call(taken);
    } finally {
      busy.delete(taken);
      done.resolve();
    }
  }

  return {
    take,
    /** Notes when a caller may call again, from the headers of its latest answer. */
    note(caller: Caller, headers: Headers): void {
      if (!readyAt.has(caller) || !(headers.has('x-ratelimit-remaining') || headers.has('retry-after'))) return;
      const retryAfter = Number(headers.get('retry-after') ?? 0);
      const reset = Number(headers.get('x-ratelimit-reset') ?? 0) * 1_000;
      const used = headers.get('x-ratelimit-remaining') === '0';
      readyAt.set(caller, Math.max(retryAfter && Date.now() + retryAfter * 1_000, used ? reset : 0));
    },
  };
}

export type Turns = ReturnType<typeof createTurns>;
