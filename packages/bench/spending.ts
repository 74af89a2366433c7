/**
 * What one key can spend: for each operation, the calls of `hostile.ts` at the full throttle of the usage plan, averaged over a minute, beside
 * what DynamoDB gives a new table. Prints a table of Markdown.
 */
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { THROTTLE } from '../../lib/http/operation.ts';
import { operationIdOf, operations } from '../../lib/operations/index.ts';
import { createHandlers } from '../../test/support/handlers.ts';
import { type HostileCall, hostileCallsOf, hostileLines, keyOf } from './hostile.ts';
import type { Figure } from './run.ts';
import { benchDeps, eventOf, PAST_CACHE_MS, startBenchService, startMeter } from './service.ts';
import { feedCosts } from './spending/feed.ts';

/** Units a second. Source: Developer Guide, "DynamoDB on-demand capacity mode", on initial throughput. */
const NEW_TABLE = { read: 12_000, write: 4_000 } as const;
/** The share of them that one key may take, by all operations but those of the feed. */
const MOST = 2 / 3;
/** So many calls refused in a row: longer than the short window of any limit, so that all others of the minute are refused, too. */
const REFUSED_IN_A_ROW = 120;

interface Spent {
  read: number;
  write: number;
  /** Bytes of the response. */
  sent: number;
}
const NOTHING: Spent = { read: 0, write: 0, sent: 0 };
const combined =
  (combine: (a: number, b: number) => number) =>
  (a: Spent, b: Spent): Spent => ({
    read: combine(a.read, b.read),
    write: combine(a.write, b.write),
    sent: combine(a.sent, b.sent),
  });
const sum = combined((a, b) => a + b);
const most = combined(Math.max);
const times = (count: number, { read, write, sent }: Spent): Spent => ({
  read: count * read,
  write: count * write,
  sent: count * sent,
});

interface Measured {
  bytes: number;
  /** Of one call. */
  call: Spent;
  /** Of all calls of a minute, each second on average. */
  second: Spent;
  /** The statuses of the responses of a minute. */
  statuses: ReadonlySet<number>;
}

async function startSpender() {
  const resources = new AsyncDisposableStack();
  const service = resources.use(await startBenchService(hostileLines()));
  const { table, totals } = resources.use(await startMeter(service));
  let nowMs = Math.ceil(Date.now() / 60_000) * 60_000;
  const handlers = createHandlers(benchDeps(table, () => nowMs));

  async function callOnce({ operation, account = 'large', body }: HostileCall, index: number) {
    const event = eventOf(operation, keyOf(account), body(index)) as unknown as APIGatewayProxyEvent;
    const bytes = Buffer.byteLength(event.body ?? '');
    const before = totals();
    const answer = await handlers[operationIdOf(operation.name)](event, {} as Context);
    const { statusCode, body: text } = answer as APIGatewayProxyResult;
    if (statusCode >= 500) throw new Error(`${operation.name}: ${statusCode} ${text}`);
    const { readUnits, writeUnits } = totals();
    const spent: Spent = {
      read: readUnits - before.readUnits,
      write: writeUnits - before.writeUnits,
      sent: Buffer.byteLength(text),
    };
    return { spent, status: statusCode, bytes };
  }

  /** The calls of a minute at the throttle, from its start. What the last one costs, all that would follow do. */
  async function measure(call: HostileCall): Promise<Measured> {
    const { rate, burst } = call.operation.throttle ?? THROTTLE;
    const calls = 60 * rate + burst;
    const isCounted = call.operation.rateWindows !== undefined || call.operation.name === 'merge-alerts';
    nowMs = Math.ceil((nowMs + PAST_CACHE_MS) / 60_000) * 60_000;
    const statuses = new Set<number>();
    let [all, dearest, last] = [NOTHING, NOTHING, NOTHING];
    let [made, refused, size] = [0, 0, 0];
    while (made < calls && refused < REFUSED_IN_A_ROW) {
      const { spent, status, bytes } = await callOnce(call, made);
      made += 1;
      nowMs += 1_000 / rate;
      [all, dearest, last, size] = [sum(all, spent), most(dearest, spent), spent, bytes];
      statuses.add(status);
      refused = status === 429 ? refused + 1 : 0;
      // The second one finds the key in the cache.
      if (!isCounted && made === 2) break;
    }
    const total = sum(all, times(calls - made, last));
    return { bytes: size, call: isCounted ? dearest : last, second: times(1 / 60, total), statuses };
  }
  return { endpoint: service.endpoint, measure, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

const show = (units: number) => units.toLocaleString('en', { maximumFractionDigits: units < 10 ? 1 : 0 });
const cellsOf = ({ read, write, sent }: Spent) => [read, write, sent / 1_000].map(show);
const row = (...cells: unknown[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`);

export async function run(add: (figure: Figure) => void): Promise<void> {
  await using spender = await startSpender();
  row('operation', 'call', 'bytes', 'read', 'write', 'KB sent', 'status', 'a second: read', 'write', 'KB sent');
  row(...Array(10).fill('---'));
  let worst = NOTHING;
  for (const operation of operations) {
    let ofOperation = NOTHING;
    for (const call of hostileCallsOf(operation)) {
      const { bytes, call: one, second, statuses } = await spender.measure(call);
      row(operation.name, call.what, show(bytes), ...cellsOf(one), [...statuses].join(), ...cellsOf(second));
      ofOperation = most(ofOperation, second);
    }
    if (operation.tag !== 'Feed') worst = sum(worst, ofOperation);
  }
  process.stdout.write(
    `The worst calls of all operations but the feed's send ${show(worst.sent / 1e6)} MB a second.\n`,
  );
  for (const side of ['read', 'write'] as const)
    add({
      name: `${side} units a second, by the worst calls of these`,
      value: worst[side],
      unit: 'units',
      baseline: { name: 'a new table', value: NEW_TABLE[side] },
      most: MOST,
    });
  for (const { what, write, perSecond } of await feedCosts(spender.endpoint))
    add({
      name: `feed, ${what}: ${show(write)} units an item counted`,
      value: write * perSecond,
      unit: 'units',
      baseline: { name: 'a new table', value: NEW_TABLE.write },
    });
}
