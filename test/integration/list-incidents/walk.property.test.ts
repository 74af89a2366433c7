import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Severity } from '../../../lib/model/alert.ts';
import { orderOfTime } from '../../../lib/model/order.ts';
import { listAlerts } from '../../../lib/operations/list-alerts/schema.ts';
import { listIncidents } from '../../../lib/operations/list-incidents/schema.ts';
import { listMembers } from '../../../lib/operations/list-members/schema.ts';
import { alertIndex } from '../../../lib/table/alert-index.ts';
import { keys } from '../../../lib/table/keys.ts';
import { newCaller } from '../../support/accounts.ts';
import { expectData } from '../../support/answers.ts';
import { intercepted } from '../../support/faults.ts';
import { callAlone, createHandlers, newDouble, putAll, testDeps } from '../../support/service.ts';
import type { KeysAndAttributes } from '../../table-double/client.ts';

const idOf = (number: string) => Number(number).toString(16).padStart(24, '0');
const SECOND = 1_795_000_000;
/** The highest number of a row: so low that most changes meet rows that are there. */
const MOST = 60;
const TEXTS = ['Disk 7', 'DISK 8', 'net'];
/** What an alert is: its severity, whether it is open, and whether an import has changed its start. */
const ALERTS = ['Critical open', 'Warning open', 'Critical ended', ' ended', 'Warning expired', 'Critical open moved'];
const someIds = fc.array(fc.nat(MOST).map(String).map(idOf), { maxLength: 100, size: 'max' });
const times = fc.tuple(fc.nat(MOST), fc.nat(MOST));
const incidentFilters = fc.record(
  {
    asc: fc.boolean(),
    query: fc.constantFrom('disk', '8', 'none'),
    times,
    incident_ids: someIds,
  },
  { requiredKeys: [] },
);
const alertFilters = fc.oneof(
  ...[
    {},
    { times, is_active: fc.boolean() },
    { alert_ids: someIds.filter(({ length }) => length > 0), is_active: fc.boolean() },
  ].map((fields) =>
    fc.record(
      { asc: fc.boolean(), alert_severity: fc.constantFrom('Critical', 'Warning, Info'), ...fields },
      { requiredKeys: ['times', 'alert_ids'].filter((name) => name in fields) as [] },
    ),
  ),
);

interface Filters {
  asc?: boolean;
  query?: string;
  times?: [number, number];
  incident_ids?: string[];
  alert_ids?: string[];
  alert_severity?: string;
  is_active?: boolean;
}
/** The number of a row is also the second of its creation, or start. */
const isThen = ({ times: [first, more] = [0, MOST] }: Filters, number: string) =>
  Number(number) >= first && Number(number) <= first + more;
const isNamed = (ids: string[] = [], number: string) => ids.length === 0 || ids.includes(idOf(number));
const hasText = (filters: Filters, number: string, of: string) =>
  of.toLowerCase().includes(filters.query ?? '') && isThen(filters, number) && isNamed(filters.incident_ids, number);
const bodyOf = ({ times, ...body }: Filters) => ({
  ...body,
  ...(times && { start_time: SECOND + times[0], end_time: SECOND + times[0] + times[1] + 1 }),
});
const byNumber =
  ({ asc }: Filters) =>
  (a: string, b: string) =>
    asc ? Number(a) - Number(b) : Number(b) - Number(a);
const numberIn = (id: string) => String(Number.parseInt(id.slice(-2), 16));

const LISTS = [
  {
    operation: listIncidents,
    filters: incidentFilters as fc.Arbitrary<Filters>,
    ...{ texts: TEXTS, changes: false, fits: hasText },
    rowOf: (account: number | bigint, number: string, title: string) => ({
      ...keys.incident(account, idOf(number)),
      ...{ incident_id: idOf(number), title, title_order: orderOfTime(SECOND * 1_000) },
      created_at_ms: (SECOND + Number(number)) * 1_000,
    }),
    numberOf: ({ incident_id }: { incident_id: string }) => numberIn(incident_id),
    inOrder: byNumber,
  },
  {
    operation: listAlerts,
    filters: alertFilters as fc.Arbitrary<Filters>,
    ...{ texts: ALERTS, changes: true },
    fits(filters: Filters, number: string, of: string) {
      const { alert_severity: wanted, alert_ids, times } = filters;
      const { is_active = alert_ids || times ? undefined : true } = filters;
      const [severity = '', state, moved] = of.split(' ');
      const isSeverity = wanted === undefined || (severity !== '' && wanted.includes(severity));
      const isState = state !== 'expired' && (is_active === undefined || is_active === (state === 'open'));
      return isSeverity && isState && isNamed(alert_ids, number) && (moved ? !times : isThen(filters, number));
    },
    rowOf(account: number | bigint, number: string, of: string) {
      const [severity, state, moved] = of.split(' ');
      const started_at_ms = (SECOND + Number(number) + (moved ? 1_000 : 0)) * 1_000;
      const row = {
        alert_id: idOf(number),
        started_at_ms,
        ...(severity && { alert_severity: severity as Severity }),
        ...(state !== 'open' && { ended_at_ms: started_at_ms }),
        ...(state === 'expired' && { ttl: 1 }),
      };
      const content = { title: 't', alert_key: number, key_order: new Uint8Array(24) };
      return { ...keys.alert(account, row.alert_id), ...row, ...content, ...alertIndex.entry(account, row) };
    },
    numberOf: ({ alert_id }: { alert_id: string }) => numberIn(alert_id),
    inOrder: byNumber,
  },
  {
    operation: listMembers,
    filters: fc.record({ query: fc.constantFrom('disk', '8', 'none') }, { requiredKeys: [] }) as fc.Arbitrary<Filters>,
    ...{ texts: TEXTS, changes: false, fits: hasText },
    rowOf: (account: number | bigint, number: string, name: string) => ({
      ...keys.member(account, Number(number)),
      ...{ member_id: Number(number), name, row_order: orderOfTime(SECOND * 1_000) },
    }),
    numberOf: ({ member_id }: { member_id: number }) => String(member_id),
    inOrder: () => (a: string, b: string) => (a < b ? -1 : 1),
  },
];

it.each(LISTS)(
  'a walk of $operation.path meets each row that fits exactly once and in order, whatever is added or changed meanwhile and what rows cost',
  async ({ operation, filters, texts: of, changes, fits, rowOf, numberOf, inOrder }) => {
    /** Numbers of rows and their texts. */
    const rows = fc.dictionary(fc.nat(MOST).map(String), fc.constantFrom(...of), {
      maxKeys: 40,
      size: 'max',
      noNullPrototype: true,
    });
    const steps = fc.array(fc.record({ limit: fc.integer({ min: 1, max: 8 }), added: rows }), {
      minLength: 1,
      maxLength: 4,
    });
    const property = fc.asyncProperty(
      rows,
      filters,
      steps,
      fc.constantFrom(0.1, 1, 9),
      async (start, filter, steps, cost) => {
        let meanwhile = async () => {};
        const table = intercepted(newDouble(), async (read, { name, input }) => {
          // After the index, before the rows.
          if (name === 'BatchGetCommand') await meanwhile();
          const reply = (await read()) as { Items?: unknown[] };
          const asked = Object.values<Partial<KeysAndAttributes>>(input.RequestItems ?? {});
          const count = reply.Items?.length ?? asked.reduce((sum, { Keys = [] }) => sum + Keys.length, 0);
          const used = { CapacityUnits: cost * count };
          return { ...reply, ConsumedCapacity: reply.Items ? used : [used] };
        });
        const { account, appKey } = await newCaller(table);
        const handlers = createHandlers(testDeps(table));
        const texts = new Map<string, string>();
        async function add(added: Record<string, string>) {
          const fresh = Object.entries(added).filter(([number, text]) =>
            changes ? texts.get(number) !== text : !texts.has(number),
          );
          for (const [number, text] of fresh) {
            if (texts.has(number) || text.endsWith('moved')) changed.add(number);
            texts.set(number, text);
          }
          await putAll(
            table,
            fresh.map(([number, text]) => rowOf(account, number, text)),
          );
        }
        const changed = new Set<string>();
        await add(start);
        const met: string[] = [];
        let search_after_ctx: string | undefined = '';
        for (let page = 0; search_after_ctx !== undefined; page += 1) {
          const { limit, added } = steps[page % steps.length] as { limit: number; added: Record<string, string> };
          meanwhile = async () => {
            meanwhile = async () => {};
            if (page < 6) await add(added);
          };
          const body = { ...bodyOf(filter), limit, search_after_ctx };
          const data = expectData(operation, await callAlone(handlers, operation, { appKey, body }));
          expect(data.items.length).toBeLessThanOrEqual(limit);
          expect(data.has_next_page).toBe(data.search_after_ctx !== undefined);
          const found: string[] = data.items.map(numberOf);
          for (const number of found) expect(fits(filter, number, String(texts.get(number)))).toBe(true);
          met.push(...found);
          search_after_ctx = data.search_after_ctx;
          await meanwhile();
          expect(page).toBeLessThan(250);
        }
        const unchanged = met.filter((number) => !changed.has(number));
        const wanted = Object.entries(start).flatMap(([number, text]) =>
          fits(filter, number, text) && !changed.has(number) ? [number] : [],
        );
        expect(unchanged).toEqual(expect.arrayContaining(wanted));
        expect(unchanged).toEqual([...new Set(unchanged)].sort(inOrder(filter)));
      },
    );
    await fc.assert(property, { numRuns: 300 });
  },
);
