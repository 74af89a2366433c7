/** `/alert/list` and `/alert/info` on DynamoDB Local. */
import { describe, expect, it } from 'vitest';
import { getAlert } from '../../../lib/operations/get-alert/schema.ts';
import { listAlerts } from '../../../lib/operations/list-alerts/schema.ts';
import { keys } from '../../../lib/table/keys.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { aroundCalls } from '../../support/faults.ts';
import { createHandlers } from '../../support/handlers.ts';
import { newAccount, objectId } from '../../support/incidents.ts';
import { ingestOver } from '../../support/ingest.ts';
import { type Answer, callAlone, connectAgain, newTable, stored, testDeps } from '../../support/service.ts';
import type { Request } from '../../table-double/client.ts';
import { hookedTable } from '../http/hooked-table.ts';

const NOW = 1_795_000_000_000;
const table = await newTable();
const handlers = createHandlers(testDeps(table));

const dataOf = (answer: Answer) => {
  expectEnvelope(answer, 200);
  return answer.body.data;
};
const errorOf = (answer: Answer) => {
  expectEnvelope(answer, 400, answer.body.error?.code);
  return answer.body.error;
};

/** An account whose alerts start a second after each other. */
async function newCaller() {
  const tenant = await newAccount(table);
  const { account, appKey } = tenant;
  const ingest = ingestOver(table, () => NOW);
  const call = (operation: typeof listAlerts | typeof getAlert, body: object) =>
    callAlone(handlers, operation, { appKey, body });
  return {
    ...tenant,
    async send(...records: object[]) {
      await ingest.send(
        ...records.map((fields) => ({ kind: 'alert', account_id: account, title: 't', at_ms: NOW, ...fields })),
      );
      expect(ingest.refused).toEqual([]);
    },
    idOf: async (key: string) => (await stored(table, keys.alertKey(account, key))).alert_id as string,
    list: async (body: object = {}) => dataOf(await call(listAlerts, body)),
    keysOf: async (body: object = {}) =>
      dataOf(await call(listAlerts, body)).items.map(({ alert_key }: { alert_key: string }) => alert_key),
    refused: async (body: object) => errorOf(await call(listAlerts, body)),
    info: (alert_id: string) => call(getAlert, { alert_id }),
  };
}
const started = (alert_key: string, second: number, fields: object = {}) => ({
  ...{ alert_key, started_at_ms: NOW - 100_000 + 1_000 * second },
  ...fields,
});
const END = { alert_status: 'Ok' };

it('an alert has all that its records say, and the service knows', async () => {
  const { account, send, idOf, list, info, incident } = await newCaller();
  const incident_id = await incident({ title: 'Down' });
  const content = {
    ...{ title: 'Disk', description: 'd', labels: { constructor: 'c' }, source_url: 'https://a' },
    annotations: { constructor: 'c' },
  };
  await send({ ...started('k', 1), ...content, alert_status: 'Critical', incident_id, at_ms: NOW - 5_000 });
  const alert_id = await idOf('k');
  const seconds = NOW / 1_000;
  const item = {
    ...{
      account_id: account,
      alert_id,
      alert_key: 'k',
      alert_severity: 'Critical',
      alert_status: 'Critical',
      ...content,
    },
    ...{ start_time: seconds - 99, last_time: seconds - 5, end_time: 0, created_at: seconds, updated_at: seconds },
    incident: { incident_id, title: 'Down' },
  };
  expect(await list()).toEqual({ items: [item], has_next_page: false });
  expect(dataOf(await info(alert_id.toUpperCase()))).toEqual(item);

  await send({ alert_key: 'k', ...END, ended_at_ms: NOW - 1_500 });
  const ended = { title: 't', alert_status: 'Ok', end_time: seconds - 2, last_time: seconds };
  expect(dataOf(await info(alert_id))).toEqual({ ...item, ...ended });
  expect(await list()).toEqual({ items: [], has_next_page: false });
});

it('an alert without a key has no status, and one in an incident that is not there no title of it', async () => {
  const { account, send, list, info } = await newCaller();
  const [alert_id, incident_id] = [objectId(), objectId()];
  await send({ alert_id, incident_id });
  const seconds = NOW / 1_000;
  const item = {
    account_id: account,
    alert_id,
    title: 't',
    labels: {},
    last_time: seconds,
    updated_at: seconds,
    incident: { incident_id },
  };
  expect(dataOf(await info(alert_id))).toEqual(item);
  expect((await list()).items).toEqual([]);
  expect((await list({ alert_ids: [alert_id.toUpperCase()] })).items).toEqual([item]);
});

it.each([
  ['has ended', END, {}],
  ['has another severity', { alert_status: 'Warning' }, { alert_severity: 'Critical' }],
])('the list leaves out an alert that %s since the index was read', async (_what, change, filter) => {
  const { appKey, send } = await newCaller();
  await send({ ...started('k', 1), alert_status: 'Critical', at_ms: NOW - 1 });
  const own = connectAgain(table);
  aroundCalls(own, async ({ command }, read) => {
    if (command === 'BatchGetItemCommand') await send({ alert_key: 'k', ...change });
    await read();
  });
  const answer = await callAlone(createHandlers(testDeps(own, { now: () => NOW })), listAlerts, {
    appKey,
    body: filter,
  });
  expect(dataOf(answer)).toEqual({ items: [], has_next_page: false });
});

describe('the list', () => {
  it('has the open alerts, the latest start first, or the earliest; those of some severities', async () => {
    const { send, keysOf } = await newCaller();
    const severities = ['Critical', 'Warning', 'Info'];
    const alerts = Array.from({ length: 9 }, (_, index) =>
      started(`k${index}`, (index * 4) % 9, { alert_status: severities[index % 3] }),
    );
    await send(...alerts, started('ended', 3));
    await send({ ...started('ended', 3), ...END, at_ms: NOW + 1 });
    const inOrder = alerts.toSorted((a, b) => b.started_at_ms - a.started_at_ms) as unknown as {
      alert_key: string;
      alert_status: string;
    }[];
    const wanted = (...some: string[]) =>
      inOrder.filter(({ alert_status }) => some.includes(alert_status)).map(({ alert_key }) => alert_key);
    expect(await keysOf()).toEqual(wanted(...severities));
    expect(await keysOf({ is_active: true, asc: true })).toEqual(wanted(...severities).reverse());
    expect(await keysOf({ alert_severity: 'Critical' })).toEqual(wanted('Critical'));
    expect(await keysOf({ alert_severity: 'Info, Critical,Info' })).toEqual(wanted('Critical', 'Info'));
    expect(await keysOf({ alert_severity: '' })).toEqual(wanted(...severities));
  });

  it('has named alerts, open or not, and only those that match the other filters', async () => {
    const { send, keysOf, idOf } = await newCaller();
    await send(
      started('open', 1),
      started('ended', 2, { alert_status: 'Info' }),
      started('again', 3),
      started('other', 4),
    );
    await send(...['ended', 'again'].map((alert_key) => ({ alert_key, ...END, at_ms: NOW + 1 })));
    const first = await idOf('again');
    await send(started('again', 5, { at_ms: NOW + 2 }));
    const named = { alert_keys: ['again', 'ended', 'open', 'open', 'none'] };
    expect(await keysOf(named)).toEqual(['again', 'ended', 'open']);
    expect(await keysOf({ ...named, is_active: true, asc: true })).toEqual(['open', 'again']);
    expect(await keysOf({ ...named, is_active: false })).toEqual(['ended']);
    expect(await keysOf({ ...named, alert_severity: 'Info' })).toEqual(['ended']);
    expect(await keysOf({ alert_ids: [first, first.toUpperCase()], alert_keys: ['open'] })).toEqual(['again', 'open']);
    expect(await keysOf({ alert_ids: [], alert_keys: [] })).toEqual(['again', 'other', 'open']);
  });

  it.each([
    {},
    { asc: true },
    { alert_severity: 'Critical' },
    { alert_keys: Array.from({ length: 30 }, (_, index) => `k${index}`) },
  ])('meets each alert once in pages of any size, whatever opens or ends meanwhile: %j', async (filter) => {
    const { send, list } = await newCaller();
    await send(
      ...Array.from({ length: 30 }, (_, index) => started(`k${index}`, index % 7, { alert_status: 'Critical' })),
    );
    const met: string[] = [];
    let cursor: string | undefined;
    for (let pages = 1; pages === 1 || cursor !== undefined; pages += 1) {
      const { items, has_next_page, search_after_ctx } = await list({
        ...filter,
        limit: 1 + (pages % 4),
        search_after_ctx: cursor,
      });
      expect(has_next_page).toBe(search_after_ctx !== undefined);
      met.push(...items.map(({ alert_key }: { alert_key: string }) => alert_key));
      cursor = search_after_ctx;
      await send(
        { alert_key: met[0], ...END, at_ms: NOW + pages },
        started(`new ${pages}`, 90, { at_ms: NOW + pages }),
      );
    }
    expect(met.filter((key) => !key.startsWith('new')).sort()).toEqual(
      Array.from({ length: 30 }, (_, index) => `k${index}`).sort(),
    );
  });

  it('refuses a cursor of another account, order or filter, unknown severities, and ended alerts that are not named', async () => {
    const [a, b] = [await newCaller(), await newCaller()];
    await a.send(started('a', 1), started('b', 2));
    const { search_after_ctx } = await a.list({ limit: 1 });
    const CURSOR = {
      code: 'InvalidParameter',
      message: expect.stringMatching(/^search_after_ctx must be a search_after_ctx that/),
    };
    const again = { limit: 1, search_after_ctx };
    expect((await a.list({ ...again, limit: 2 })).items).toHaveLength(1);
    expect(await b.refused(again)).toEqual(CURSOR);
    for (const filter of [{ asc: true }, { alert_severity: 'Warning' }, { is_active: true }, { alert_keys: ['a'] }])
      expect(await a.refused({ ...again, ...filter })).toEqual(CURSOR);
    expect(await a.refused({ alert_severity: 'Critical,critical' })).toEqual({
      code: 'InvalidParameter',
      message: 'alert_severity must be one of Critical, Warning, Info.',
    });
    expect((await a.refused({ is_active: false })).message).toMatch(
      /^is_active may be false only with alert_ids or alert_keys/,
    );
    const alert_ids = Array(60).fill('a'.repeat(24));
    expect(await a.keysOf({ alert_ids, alert_keys: Array(40).fill('a') })).toEqual(['a']);
    expect((await a.refused({ alert_ids, alert_keys: Array(41).fill('a') })).message).toBe(
      'alert_ids and alert_keys must have at most 100 items together, not 101.',
    );
    for (const [body, field] of [
      [{ limit: 101 }, 'limit'],
      [{ alert_ids: Array(101).fill('a'.repeat(24)) }, 'alert_ids'],
      [{ alert_keys: [''] }, 'alert_keys[0]'],
    ] as const)
      expect((await a.refused(body)).message).toMatch(`${field} must be `);
  });

  it('ends a page at 4 MB, and goes on after it', async () => {
    const { send, list } = await newCaller();
    const labels = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`l${index}`, 'v'.repeat(1_000)]));
    for (let index = 0; index < 70; index += 10)
      await send(...Array.from({ length: 10 }, (_, more) => started(`k${index + more}`, index + more, { labels })));
    const first = await list({ limit: 100 });
    expect(first.has_next_page).toBe(true);
    const bytes = Buffer.byteLength(JSON.stringify(first.items));
    expect([bytes > 3_900_000, bytes <= 4_000_200]).toEqual([true, true]);
    const second = await list({ limit: 100, search_after_ctx: first.search_after_ctx });
    expect([first.items.length + second.items.length, second.has_next_page]).toEqual([70, false]);
  });
});

it('an alert whose severity changes while its list is read is listed once', async () => {
  const { table, hooked, hook } = hookedTable();
  const { account, appKey } = await newAccount(table);
  const send = (alert_status: string, at_ms: number) =>
    ingestOver(table, () => NOW).send({
      ...{ kind: 'alert', account_id: account, alert_key: 'k', title: 't', alert_status, at_ms },
    });
  await send('Critical', NOW);
  const partitionOf = ({ input }: Request) => JSON.stringify(input.ExpressionAttributeValues ?? {});
  const changed = Promise.withResolvers<void>();
  hook.around = async (reply, request) => {
    if (partitionOf(request).includes('#Warning#')) await changed.promise;
    const result = reply();
    if (partitionOf(request).includes('#Critical#'))
      changed.resolve(await send('Warning', NOW + 1).then(() => undefined));
    return result;
  };
  const { items } = dataOf(await callAlone(createHandlers(testDeps(hooked)), listAlerts, { appKey, body: {} }));
  expect(items).toMatchObject([{ alert_key: 'k', alert_severity: 'Warning' }]);
});
