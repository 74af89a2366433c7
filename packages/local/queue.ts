import { randomUUID } from 'node:crypto';
import type { LocalFunction } from './local-functions.ts';

/** A queue as the template has it, and the function that it feeds. */
export interface QueueSettings {
  /** In the template. */
  readonly id: string;
  readonly functionName: string;
  readonly delayMs: number;
  /** Time until a failed message is retried. */
  readonly visibilityMs: number;
  /** Receives after which a message goes to the dead letters. */
  readonly maxReceives: number;
}

/** Hands each message to a function by itself, as Lambda does for an SQS queue with batches of one; kept in memory. */
export function startQueue(
  { delayMs, visibilityMs, maxReceives }: Pick<QueueSettings, 'delayMs' | 'visibilityMs' | 'maxReceives'>,
  target: Pick<LocalFunction, 'invoke'>,
) {
  const timers = new Set<NodeJS.Timeout>();
  const underWay = new Set<Promise<void>>();
  const deadLetters: string[] = [];
  let stopped = false;

  function later(ms: number, act: () => Promise<void>): void {
    if (stopped) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      const acting = act().finally(() => underWay.delete(acting));
      underWay.add(acting);
    }, ms);
    timers.add(timer);
  }

  async function receive(messageId: string, body: string, receives: number): Promise<void> {
    const attributes = { ApproximateReceiveCount: String(receives) };
    try {
      await target.invoke({ Records: [{ messageId, body, attributes, eventSource: 'aws:sqs' }] });
    } catch {
      if (receives >= maxReceives) deadLetters.push(body);
      else later(visibilityMs, () => receive(messageId, body, receives + 1));
    }
  }

  return {
    send: (body: string) => later(delayMs, () => receive(randomUUID(), body, 1)),
    /** Messages that were received too often. */
    deadLetters: deadLetters as readonly string[],
    async stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(underWay);
    },
  };
}
