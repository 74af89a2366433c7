/** The queues and the event bus of the week, as arrays: at least once, with partial failures and AWS's limits of sizes. */
import { expect } from 'vitest';
import { type QueueMessage, sizeOf } from '../../../lib/aws/sqs.ts';
import type { ServiceEvent } from '../../../lib/events/event.ts';
import { stringifyJson } from '../../../lib/shared/json.ts';

/** SQS takes no larger message. */
const MAX_MESSAGE_BYTES = 2 ** 20;
/** EventBridge takes no larger entry. */
const MAX_EVENT_BYTES = 256 * 1024;
/** What docs/events.md promises of an alert's event. */
const MAX_ALERT_EVENT_BYTES = 64_000;

export interface Message {
  readonly messageId: string;
  readonly body: string;
  readonly sentMs: number;
}

/** Says of each send, in turn, whether it is taken. After `end` all are. */
export function createTaker(refuses: readonly boolean[]) {
  let sends = 0;
  let isOver = false;
  return {
    takes: (): boolean => {
      sends += 1;
      return isOver || !refuses[sends % refuses.length];
    },
    end: () => {
      isOver = true;
    },
  };
}
export type Taker = ReturnType<typeof createTaker>;

export class Queue {
  /** All that was ever sent. */
  readonly sent: Message[] = [];
  /** What is not deleted yet: consumers may get it several times, also at the same time. */
  readonly waiting = new Set<Message>();
  readonly #name: string;
  readonly #nowMs: () => number;
  readonly #taker: Taker;

  constructor(name: string, nowMs: () => number, taker: Taker) {
    this.#name = name;
    this.#nowMs = nowMs;
    this.#taker = taker;
  }

  put(message: QueueMessage): void {
    expect(sizeOf(message), `bytes of a message of the queue ${this.#name}`).toBeLessThanOrEqual(MAX_MESSAGE_BYTES);
    const sent = { messageId: `${this.#name}${this.sent.length}`, body: message.MessageBody, sentMs: this.#nowMs() };
    this.sent.push(sent);
    this.waiting.add(sent);
  }

  /** @returns for each message whether the queue took it. What it did not confirm, it may have taken all the same */
  send(messages: readonly QueueMessage[]): boolean[] {
    return messages.map((message, index) => {
      const isTaken = this.#taker.takes();
      if (isTaken || index % 2 === 1) this.put(message);
      return isTaken;
    });
  }

  /** Messages for a consumer. They stay until they are deleted. */
  receive = (count: number): Message[] => [...this.waiting].slice(0, count);
}

export class Bus {
  /** The texts of the events, by their ids. */
  readonly events = new Map<string, { type: string; texts: Set<string>; detail: ServiceEvent['detail'] }>();
  readonly #taker: Taker;

  constructor(taker: Taker) {
    this.#taker = taker;
  }

  publish(events: readonly ServiceEvent[]): boolean[] {
    return events.map(({ type, detail }) => {
      const text = stringifyJson(detail);
      const most = /^Alert(Triggered|Resolved)$/.test(type) ? MAX_ALERT_EVENT_BYTES : MAX_EVENT_BYTES;
      expect(Buffer.byteLength(text), `bytes of an event ${type}`).toBeLessThanOrEqual(most);
      if (!this.#taker.takes()) return false;
      const { id } = detail;
      const known = this.events.get(id) ?? { type, texts: new Set(), detail };
      this.events.set(id, known);
      known.texts.add(`${type} ${text}`);
      return true;
    });
  }
}
