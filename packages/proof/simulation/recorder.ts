/**
 * Records what a process does. Between two deliveries a process runs alone, so what it does next depends only on what was delivered to
 * it before. The real code runs once for each sequence of deliveries; schedules then use the recording, which takes no time.
 */
import { type Actor, type Call, type Delivery, type Effect, Run } from './run.ts';

/** A point in a recording at which the process waits for its next delivery. */
export interface Position {
  readonly id: number;
  /** The calls that wait for a reply, in the order in which they were sent. */
  readonly calls: readonly Call[];
  readonly hasTimers: boolean;
  /** Whether the process has made exactly one call. */
  readonly hasMadeOneCall: boolean;
  readonly over: 'done' | 'failed' | undefined;
  /** The last delivery, and the position before it; absent: none. */
  readonly last?: { readonly from: Position; readonly delivery: Delivery; readonly call: Call | undefined };
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
  /** The latest run, which can take further deliveries at its position. */
  #latest: { at: Position; run: Run } | undefined;
  #start: Reaction | undefined;

  constructor(actor: Actor) {
    this.actor = actor;
  }

  /** What the process does until it waits for its first delivery. */
  async start(): Promise<Reaction> {
    this.#start ??= this.#reaction(await Run.start(this.actor), undefined);
    return this.#start;
  }

  async deliver(at: Position, delivery: Delivery, call?: Call): Promise<Reaction> {
    const key = `${call?.name} ${delivery.id}`;
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
    const run = await Run.start(this.actor);
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
        hasMadeOneCall: calls === 1,
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
  const actual = [...run.waiting.map(({ call }) => call), run.over].map(textOf).join('\n');
  const recorded = [...calls, over].map(textOf).join('\n');
  if (actual !== recorded)
    throw new Error(`a process did different things after the same deliveries:\n${recorded}\nand then\n${actual}`);
}
const textOf = (waiting: Call | string | undefined) =>
  typeof waiting === 'object' ? `${waiting.name} ${waiting.text}` : waiting;
