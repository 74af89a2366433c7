/** Writes whose reply is lost. `test/schedules` has the rest. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Table, withSignal } from '../../../lib/table/client.ts';
import { readPastSignal, settle } from '../../../lib/table/write.ts';
import { connectionLost } from '../../support/faults.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const table = { name: 't' } as Table;
/** A call that goes on until its signal aborts. */
const untilAborted = ({ signal }: Table) =>
  new Promise<never>((_resolve, reject) => signal?.addEventListener('abort', () => reject(connectionLost())));

it('a write whose reply was lost has the outcome that the table shows, read with a later signal than its own', async () => {
  const call = new AbortController();
  const verify = async ({ signal }: Table) => signal !== call.signal && 'found';
  const settled = settle<string | false>(withSignal(table, call.signal), { send: untilAborted, verify });
  call.abort();
  expect(await settled).toBe('found');
  const failure = connectionLost();
  const send = () => Promise.reject(failure);
  for (const verify of [async () => undefined, () => Promise.reject(new Error('away'))])
    await expect(settle<string>(table, { send, verify })).rejects.toBe(failure);
});

it.each(['before', 'after'])('its read goes on for 250 ms when its call ends %s the read begins', async (when) => {
  const call = new AbortController();
  const ended = vi.fn();
  if (when === 'before') call.abort();
  readPastSignal(withSignal(table, call.signal), untilAborted).catch(ended);
  if (when === 'after') {
    await vi.advanceTimersByTimeAsync(10_000);
    call.abort();
  }
  await vi.advanceTimersByTimeAsync(249);
  expect(ended).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(ended).toHaveBeenCalled();
});
