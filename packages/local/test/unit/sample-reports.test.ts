import { afterEach, expect, it, vi } from 'vitest';
import { recordOf } from '../../../../lib/ingest/records.ts';
import { startSampleReports } from '../../sample-reports.ts';

afterEach(() => void vi.useRealTimers());

it("the sample's hosts report every half minute, with valid records whose values change", async () => {
  vi.useFakeTimers();
  const bodies: string[] = [];
  const stop = startSampleReports((body) => bodies.push(body));
  await vi.advanceTimersByTimeAsync(2 * 30_000);
  const sentMs = Date.now();
  await stop();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(bodies).toHaveLength(2 * 30); // a message each second
  const [first, second] = [bodies.slice(0, 30), bodies.slice(30)].map((round) => {
    const lines = round.flatMap((body) => body.split('\n'));
    for (const line of lines) expect(recordOf(line, { sentMs, messageId: 'm', line: 1 })).toHaveProperty('record');
    return new Map(lines.map((line) => [JSON.parse(line).host_id, JSON.parse(line).node_count]));
  });
  expect(first?.size).toBeGreaterThan(400);
  expect([...(second?.keys() ?? [])]).toEqual([...(first?.keys() ?? [])]);
  expect(second).not.toEqual(first);
});
