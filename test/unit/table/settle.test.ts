import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Table, withSignal } from '../../../lib/table/client.ts';
import { readPastSignal, settle } from '../../../lib/table/write.ts';
import { replyLost } from '../../support/wire.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const table = { name: 't' } as Table;
/** A call that goes on until its signal aborts. */
const untilAborted = ({ signal }: Table) =>
  new Promise<never>((_resolve, reject) => signal?.addEventListener('abort', () => reject(replyLost())));

describe('a write', () => {
  it('that was answered is not read back, whatever the answer', async () => {
    const verify = vi.fn();
    expect(await settle(table, { send: async () => 'written', verify })).toBe('written');
    const mistake = new TypeError('of ours');
    await expect(settle(table, { send: () => Promise.reject(mistake), verify })).rejects.toBe(mistake);
    expect(verify).not.toHaveBeenCalled();
  });

  it('whose reply was lost has the outcome that the table shows', async () => {
    const failure = replyLost();
    const send = () => Promise.reject(failure);
    expect(await settle<string>(table, { send, verify: async () => 'found' })).toBe('found');
    for (const verify of [async () => undefined, () => Promise.reject(new Error('away'))])
      await expect(settle<string>(table, { send, verify })).rejects.toBe(failure);
  });

  it('is sent with the signal of its call, and read back with a later one', async () => {
    const call = new AbortController();
    const settled = settle<boolean>(withSignal(table, call.signal), {
      send: untilAborted,
      verify: async ({ signal }) => signal !== call.signal,
    });
    call.abort();
    expect(await settled).toBe(true);
  });
});

describe('a read that settles a write', () => {
  it.each(['before', 'after'])('goes on for 250 ms when its call ends %s the read begins', async (when) => {
    const call = new AbortController();
    let isEnded = false;
    const read = () =>
      readPastSignal(withSignal(table, call.signal), untilAborted).catch(() => {
        isEnded = true;
      });
    if (when === 'before') call.abort();
    void read();
    if (when === 'after') {
      await vi.advanceTimersByTimeAsync(10_000);
      expect(isEnded).toBe(false);
      call.abort();
    }
    await vi.advanceTimersByTimeAsync(249);
    expect(isEnded).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isEnded).toBe(true);
  });

  it('has no signal if its call has none, and leaves no timer behind', async () => {
    expect(await readPastSignal(table, async ({ signal }) => signal)).toBeUndefined();
    const [ended, running] = [new AbortController(), new AbortController()];
    ended.abort();
    for (const { signal } of [ended, running]) await readPastSignal(withSignal(table, signal), async () => 'found');
    running.abort();
    expect(vi.getTimerCount()).toBe(0);
  });
});
