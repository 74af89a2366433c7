import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Table, withSignal } from '../../lib/dynamodb/client.ts';
import { readPastSignal, settle } from '../../lib/dynamodb/settle.ts';
import { replyLost } from '../support/wire.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const table = { name: 't' } as Table;

describe('a write', () => {
  it('that was answered is not read back, whatever the answer', async () => {
    const read = vi.fn();
    expect(await settle(table, { send: async () => 'written', verify: read })).toBe('written');
    const mistake = new TypeError('of ours');
    await expect(settle(table, { send: () => Promise.reject(mistake), verify: read })).rejects.toBe(mistake);
    expect(read).not.toHaveBeenCalled();
  });

  it('whose reply was lost has the outcome that the table shows', async () => {
    const failure = replyLost();
    const send = () => Promise.reject(failure);
    expect(await settle<string>(table, { send, verify: async () => 'found' })).toBe('found');
    await expect(settle<string>(table, { send, verify: async () => undefined })).rejects.toBe(failure);
    await expect(settle<string>(table, { send, verify: () => Promise.reject(new Error('away')) })).rejects.toBe(
      failure,
    );
  });

  it('is sent with the signal of its call, and read back with a later one', async () => {
    const call = new AbortController();
    const signals: (AbortSignal | undefined)[] = [];
    const settled = settle<string>(withSignal(table, call.signal), {
      send({ signal }) {
        signals.push(signal);
        return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(replyLost())));
      },
      async verify({ signal }) {
        signals.push(signal);
        return 'found';
      },
    });
    call.abort();
    expect(await settled).toBe('found');
    expect(signals[0]).toBe(call.signal);
    expect(signals[1]).not.toBe(call.signal);
  });
});

describe('a read that settles a write', () => {
  /** Starts a read that goes on until its signal aborts. */
  function looking(signal?: AbortSignal) {
    let given: AbortSignal | undefined;
    const read = ({ signal }: Table) => {
      given = signal;
      return new Promise<never>((_resolve, reject) => signal?.addEventListener('abort', () => reject(replyLost())));
    };
    const ended = readPastSignal(withSignal(table, signal), read).catch(() => 'ended');
    return { ended, isEnded: () => given?.aborted };
  }

  it.each(['before', 'after'])('goes on for 250 ms when its call ends %s the read begins', async (when) => {
    const call = new AbortController();
    if (when === 'before') call.abort();
    const { ended, isEnded } = looking(call.signal);
    if (when === 'after') {
      vi.advanceTimersByTime(10_000);
      expect(isEnded()).toBe(false);
      call.abort();
    }
    vi.advanceTimersByTime(249);
    expect(isEnded()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(isEnded()).toBe(true);
    expect(await ended).toBe('ended');
  });

  it('has no signal if its call has none, and leaves no timer behind', async () => {
    expect(await readPastSignal(table, async ({ signal }) => signal)).toBeUndefined();
    const call = new AbortController();
    call.abort();
    await readPastSignal(withSignal(table, call.signal), async () => 'found');
    expect(vi.getTimerCount()).toBe(0);
    const running = new AbortController();
    await readPastSignal(withSignal(table, running.signal), async () => 'found');
    running.abort();
    expect(vi.getTimerCount()).toBe(0);
  });
});
