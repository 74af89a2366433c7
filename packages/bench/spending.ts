/**
 * What one key can spend: for each operation, the calls of `hostile.ts` at the full throttle of the usage plan, averaged over a minute, beside
 * what DynamoDB gives a new table. Prints a table of Markdown.
 *
 * Units are those of `limits-proxy`, by AWS's rules: DynamoDB Local reports too few for transactions, and none for a failed condition, which AWS
 * charges by the stored row (Developer Guide, "DynamoDB read and write operations").
 */
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { THROTTLE } from '../../lib/http/operation.ts';
import { operationIdOf, operations } from '../../lib/operations/index.ts';
import { connectTable } from '../../lib/table/client.ts';
import { startLimitsProxy } from '../../test/limits-proxy/limits-proxy.ts';
import { createHandlers } from '../../test/support/handlers.ts';
import { type HostileCall, hostileCallsOf, hostileLines, keyOf } from './hostile.ts';
import type { Figure } from './run.ts';
import { benchDeps, eventOf, PAST_CACHE_MS, startBenchService } from './service.ts';
import { feedCosts } from './spending/feed.ts';

/** Units a second. Source: Developer Guide, "DynamoDB on-demand capacity mode", on initial throughput. */
const NEW_TABLE = { read: 12_000, write: 4_000 } as const;
/** The share of them that one key may take, by all operations but those of the feed. */
const MOST = 2 / 3;
const UNLIMITED = { readUnits: 1e12, writeUnits: 1e12 };
/** So many calls refused in a row: longer than the short window of any limit, so that all others of the minute are refused, too. */
const REFUSED_IN_A_ROW = 120;

interface Spent {
  read: number;
  write: number;
}
const plus = (a: Spent, b: Spent, times = 1): Spent => ({
  read: a.read + times * b.read,
  write: a.write + times * b.write,
});
const NOTHING: Spent = { read: 0, write: 0 };

interface Measured extends Pick<HostileCall, 'operation' | 'what'> {
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
  const service = resources.adopt(await startBenchService(hostileLines()), ({ stop }) => stop());
  const proxy = resources.adopt(await startLimitsProxy(service.endpoint, UNLIMITED), ({ close }) => close());
  const timeouts = { connectionTimeout: 10_000, requestTimeout: 60_000 };
  const table = connectTable({ name: service.table.name, endpoint: proxy.endpoint, timeouts });
  resources.defer(() => table.client.destroy());
  let nowMs = Math.ceil(Date.now() / 60_000) * 60_000;
  const handlers = createHandlers(benchDeps(table, () => nowMs));

  /** The units of an action. */
  async function spentBy<Result>(action: () => Promise<Result>): Promise<[Spent, Result]> {
    const before = proxy.totals();
    const result = await action();
    const { readUnits, writeUnits } = proxy.totals();
    return [{ read: readUnits - before.readUnits, write: writeUnits - before.writeUnits }, result];
  }

  async function callOnce({ operation, account = 'large', body }: HostileCall, index: number) {
    const event = eventOf(operation, keyOf(account), body(index)) as unknown as APIGatewayProxyEvent;
    const bytes = Buffer.byteLength(event.body ?? '');
    const [spent, answer] = await spentBy(() => handlers[operationIdOf(operation.name)](event, {} as Context));
    const { statusCode, body: text } = answer as APIGatewayProxyResult;
    if (statusCode >= 500) throw new Error(`${operation.name}: ${statusCode} ${text}`);
    return { spent, status: statusCode, bytes };
  }

  /** The calls of a minute at the throttle, from its start. What the last ones cost, all that would follow do. */
  async function measure(call: HostileCall): Promise<Measured> {
    const { rate, burst } = call.operation.throttle ?? THROTTLE;
    const calls = 60 * rate + burst;
    const isCounted = call.operation.rateWindows !== undefined || call.operation.name === 'merge-alerts';
    nowMs = Math.ceil((nowMs + PAST_CACHE_MS) / 60_000) * 60_000;
    const statuses = new Set<number>();
    let [all, dearest, first, refused, made] = [NOTHING, NOTHING, 0, 0, 0];
    let last = NOTHING;
    while (made < calls && refused < REFUSED_IN_A_ROW) {
      const { spent, status, bytes } = await callOnce(call, made);
      made += 1;
      nowMs += 1_000 / rate;
      [all, last, first] = [plus(all, spent), spent, bytes];
      statuses.add(status);
      if (spent.read + spent.write > dearest.read + dearest.write) dearest = spent;
      refused = status === 429 ? refused + 1 : 0;
      if (!isCounted && made === 2) break;
    }
    const total = plus(all, last, calls - made);
    return { ...call, bytes: first, call: isCounted ? dearest : last, second: plus(NOTHING, total, 1 / 60), statuses };
  }
  return { endpoint: service.endpoint, measure, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

const show = (units: number) => units.toLocaleString('en', { maximumFractionDigits: units < 10 ? 1 : 0 });
const row = (...cells: unknown[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`);

export async function run(add: (figure: Figure) => void): Promise<void> {
  await using spender = await startSpender();
  row('operation', 'call', 'bytes', 'read', 'write', 'status', 'read a second', 'write a second');
  row(...Array(8).fill('---'));
  let worst = NOTHING;
  for (const operation of operations) {
    const most: Spent = { ...NOTHING };
    for (const call of hostileCallsOf(operation)) {
      const { what, bytes, call: one, second, statuses } = await spender.measure(call);
      row(
        operation.name,
        what,
        show(bytes),
        show(one.read),
        show(one.write),
        [...statuses].join(),
        show(second.read),
        show(second.write),
      );
      most.read = Math.max(most.read, second.read);
      most.write = Math.max(most.write, second.write);
    }
    if (operation.tag !== 'Feed') worst = plus(worst, most);
  }
  for (const side of ['read', 'write'] as const)
    add({
      name: `${side} units a second, by the worst calls of all operations but the feed's`,
      value: worst[side],
      unit: 'units',
      baseline: { name: 'a new table', value: NEW_TABLE[side] },
      most: MOST,
    });
  for (const { what, write, perSecond } of await feedCosts(spender.endpoint))
    add({
      name: `${what}: ${show(write)} units for each item counted`,
      value: write * perSecond,
      unit: 'units',
      baseline: { name: 'a new table', value: NEW_TABLE.write },
    });
}
