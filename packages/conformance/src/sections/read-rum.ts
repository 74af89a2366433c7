import { stringifyJson } from '../../../../lib/shared/json.ts';
import { loadData } from '../../../admin/data/load.ts';
import { RUM_USAGE, rumLines } from '../data.ts';
import { data, equal, invalid, refused } from '../expect.ts';
import type { Changing } from '../lab.ts';
import { open, section, shown, shownOnData } from '../sentence.ts';
import { RUM } from '../trial.ts';

/** Changes the stored record, or the usage. */
async function store(
  { table, account }: Changing,
  change: { resource_name?: string; 'session_replay.used_cnt'?: number },
): Promise<void> {
  const lines = rumLines(account, Date.now()).map((line) =>
    stringifyJson({ ...line, ...Object.fromEntries(Object.entries(change).filter(([name]) => name in line)) }),
  );
  await loadData(table, 'certify', lines, { nowSeconds: Math.floor(Date.now() / 1000) });
}

export const readRum = section('4.2', 'Get RUM resource info', [
  shownOnData('POST /rum/resource/info returns the record and its current session usage', async (t) => {
    const record = data(await t.call(RUM, {}));
    for (const [name, value] of Object.entries(RUM_USAGE)) equal(record[name], value, name);
  }),
  shown('no_cache: optional boolean', async (t) => {
    for (const no_cache of ['true', 1, null]) invalid(await t.rum({ no_cache }), 'no_cache');
    const answers = [await t.rum({}), await t.rum({ no_cache: false }), await t.rum({ no_cache: true })];
    equal(new Set(answers.map(({ status }) => status)).size, 1, 'number of different statuses');
  }),
  shown('no_cache: false when left out, and then the record may come from the cache', async (t) => {
    const { record } = t.need('changing');
    const { caller } = record;
    await store(record, { resource_name: 'one' });
    equal(data(await t.rum({ no_cache: true }, { as: caller })).resource_name, 'one', 'resource_name');
    await store(record, { resource_name: 'two' });
    equal(data(await t.rum({}, { as: caller })).resource_name, 'one', 'resource_name, from the cache');
    equal(data(await t.rum({ no_cache: false }, { as: caller })).resource_name, 'one', 'resource_name, from the cache');
    equal(data(await t.rum({ no_cache: true }, { as: caller })).resource_name, 'two', 'resource_name, past the cache');
  }),
  shown('no_cache concerns plan version, quotas and status, not the usage, which is always current', async (t) => {
    const { usage } = t.need('changing');
    for (const [used, no_cache] of [
      [601, true],
      [602, false],
      [603, true],
    ] as const) {
      await store(usage, { 'session_replay.used_cnt': used });
      equal(data(await t.rum({ no_cache }, { as: usage.caller }))['session_replay.used_cnt'], used, 'used_cnt');
    }
  }),
  shown('400 InvalidParameter', async (t) => invalid(await t.rum({ no_cache: 'x' }), 'no_cache')),
  shown('401 Unauthorized', async (t) => refused(await t.rum({}, { as: null }), 'Unauthorized')),
  open('429 RequestTooFrequently', 'shown in section 8'),
  open('500 InternalError', 'a bug of the service, which no call can cause'),
]);
