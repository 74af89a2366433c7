import fc from 'fast-check';
import { expect, it } from 'vitest';
import { orderOfTime } from '../../../lib/model/order.ts';
import { listIncidents } from '../../../lib/operations/list-incidents/schema.ts';
import { listMembers } from '../../../lib/operations/list-members/schema.ts';
import { keys } from '../../../lib/table/keys.ts';
import { newCaller } from '../../support/accounts.ts';
import { expectData } from '../../support/answers.ts';
import { createHandlers } from '../../support/handlers.ts';
import { callAlone, putAll, testDeps } from '../../support/service.ts';
import { connectDouble, type KeysAndAttributes } from '../../table-double/client.ts';
import { TableDouble } from '../../table-double/table-double.ts';

const SECOND = 1_795_000_000;
const text = fc.constantFrom('Disk 7', 'DISK 8', 'net');
/** Numbers of rows and their texts. */
const rows = fc.dictionary(fc.nat(200).map(String), text, { maxKeys: 40, noNullPrototype: true });
const idOf = (number: string) => Number(number).toString(16).padStart(24, '0');
const incidentFilters = fc.record(
  {
    asc: fc.boolean(),
    query: fc.constantFrom('disk', '8', 'none'),
    times: fc.tuple(fc.nat(200), fc.nat(200)),
    incident_ids: fc.array(fc.nat(200).map(String).map(idOf), { maxLength: 100 }),
  },
  { requiredKeys: [] },
);

type Filters = Partial<Record<'asc', boolean>> & { query?: string; times?: [number, number]; incident_ids?: string[] };
/** The number of a row is also the second of its creation. */
const fits = (
  { query = '', times: [first, more] = [0, 300], incident_ids = [] }: Filters,
  number: string,
  of: string,
) =>
  of.toLowerCase().includes(query) &&
  Number(number) >= first &&
  Number(number) <= first + more &&
  (incident_ids.length === 0 || incident_ids.includes(idOf(number)));

const LISTS = [
  {
    operation: listIncidents,
    filters: incidentFilters as fc.Arbitrary<Filters>,
    bodyOf: ({ times, ...body }: Filters) => ({
      ...body,
      ...(times && { start_time: SECOND + times[0], end_time: SECOND + times[0] + times[1] + 1 }),
    }),
    rowOf: (account: number | bigint, number: string, title: string) => ({
      ...keys.incident(account, idOf(number)),
      ...{ incident_id: idOf(number), title, title_order: orderOfTime(SECOND * 1_000) },
      created_at_ms: (SECOND + Number(number)) * 1_000,
    }),
    numberOf: ({ incident_id }: { incident_id: string }) => String(Number.parseInt(incident_id.slice(-2), 16)),
    inOrder:
      ({ asc }: Filters) =>
      (a: string, b: string) =>
        asc ? Number(a) - Number(b) : Number(b) - Number(a),
  },
  {
    operation: listMembers,
    filters: fc.record({ query: fc.constantFrom('disk', '8', 'none') }, { requiredKeys: [] }) as fc.Arbitrary<Filters>,
    bodyOf: (body: Filters) => body,
    rowOf: (account: number | bigint, number: string, name: string) => ({
      ...keys.member(account, Number(number)),
      ...{ member_id: Number(number), name, row_order: orderOfTime(SECOND * 1_000) },
    }),
    numberOf: ({ member_id }: { member_id: number }) => String(member_id),
    inOrder: () => (a: string, b: string) => (a < b ? -1 : 1),
  },
];

it.each(LISTS)(
  'a walk of $operation.path meets each row that fits exactly once and in order, whatever is added meanwhile and what rows cost',
  async ({ operation, filters, bodyOf, rowOf, numberOf, inOrder }) => {
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
        const double = new TableDouble();
        const table = connectDouble(async (request) => {
          const reply = double.apply(request) as { Items?: unknown[] };
          const asked = Object.values((request.input.RequestItems ?? {}) as Record<string, Partial<KeysAndAttributes>>);
          const count = reply.Items?.length ?? asked.reduce((sum, { Keys = [] }) => sum + Keys.length, 0);
          const used = { CapacityUnits: cost * count };
          return { ...reply, ConsumedCapacity: reply.Items ? used : [used] };
        });
        const { account, appKey } = await newCaller(table);
        const handlers = createHandlers(testDeps(table));
        const texts = new Map<string, string>();
        async function add(added: Record<string, string>) {
          const fresh = Object.entries(added).filter(([number]) => !texts.has(number));
          for (const [number, of] of fresh) texts.set(number, of);
          await putAll(
            table,
            fresh.map(([number, of]) => rowOf(account, number, of)),
          );
        }
        await add(start);
        const met: string[] = [];
        let search_after_ctx: string | undefined = '';
        for (let page = 0; search_after_ctx !== undefined; page += 1) {
          const { limit, added } = steps[page % steps.length] as { limit: number; added: Record<string, string> };
          const body = { ...bodyOf(filter), limit, search_after_ctx };
          const data = expectData(operation, await callAlone(handlers, operation, { appKey, body }));
          expect(data.items.length).toBeLessThanOrEqual(limit);
          expect(data.has_next_page).toBe(data.search_after_ctx !== undefined);
          met.push(...data.items.map(numberOf));
          search_after_ctx = data.search_after_ctx;
          if (page < 6) await add(added);
          expect(page).toBeLessThan(250);
        }
        for (const number of met) expect(fits(filter, number, String(texts.get(number)))).toBe(true);
        const wanted = Object.entries(start).flatMap(([number, of]) => (fits(filter, number, of) ? [number] : []));
        expect(met).toEqual(expect.arrayContaining(wanted));
        expect(met).toEqual([...new Set(met)].sort(inOrder(filter)));
      },
    );
    await fc.assert(property, { numRuns: 80 });
  },
);
