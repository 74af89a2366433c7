/** The end of an account: what an erasure deletes and leaves, what it refuses meanwhile and afterwards, and that it goes on after a kill. */
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { createAppKeys, hashAppKey } from '../../../../lib/http/app-keys.ts';
import { ACCOUNT_MS } from '../../../../lib/ingest/accounts.ts';
import type { Table } from '../../../../lib/table/client.ts';
import { isOfAccount, type Key, keys, parseKey, type RowKind } from '../../../../lib/table/keys.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { ingestOver } from '../../../../test/support/ingest.ts';
import { newTable, put, putAppKey, remove, rowsIn, stored, testDeps } from '../../../../test/support/service.ts';
import { startDynamoDbProxy } from '../../../local/dynamodb-proxy.ts';
import { resourcesOf } from '../../../local/template.ts';
import { putAccount } from '../../accounts/accounts.ts';
import { SETTLE_MS } from '../../accounts/erase-account.ts';
import { createErasureWatch } from '../../accounts/erasure-watch.ts';
import { accessDenied, startAsOperator } from '../support/as-operator.ts';
import { accountLine, itemLine, lines } from '../support/data-lines.ts';
import { adminOf } from '../support/run-admin.ts';

const [OWN, OTHER, OTHER_PREFIX] = [42, 421, 4];
const ID = '64f0000000000000000000a1';
const NAME = 'Ada Lovelace';

/** The values of a key of each kind besides the account: a kind that is declared is named here, too, or this does not compile. */
const PARTS = {
  account: [],
  appKey: [],
  listedAccount: [],
  audit: [1_795_000_000_000, 'id'],
  lastRecord: ['host'],
  member: [7],
  host: ['h#1'],
  hostStatus: ['h#1'],
  retirement: ['h#1'],
  rumResource: [],
  rumUsage: [],
  workItem: ['w'],
  incident: [ID],
  alert: [ID],
  alertKey: ['k'],
  historyEntry: [ID, 5],
  logPointer: [5],
  logHead: [],
  rateCount: ['browse-fleet', 9],
  idempotency: ['merge-alerts', 'ff'],
} satisfies Record<RowKind, unknown[]>;

const hashOf = (account: number) => hashAppKey(`key of ${account}`);
function keyOf(kind: RowKind, account: number): Key {
  const make = keys[kind] as (...parts: unknown[]) => Key;
  return kind === 'appKey' ? make(hashOf(account)) : make(account, ...PARTS[kind]);
}

type Rows = Awaited<ReturnType<typeof rowsIn>>;
const kindsOf = (rows: Rows) => rows.map((row) => parseKey(row)?.kind ?? row.pk).sort();
const of = (account: number, rows: Rows) => rows.filter((row) => isOfAccount(row, account));
const sorted = (rows: Rows) => rows.toSorted((a, b) => (a.pk + a.sk < b.pk + b.sk ? -1 : 1));

/** A table with accounts that have a row of every kind; a row of no kind, too, in a partition of each. */
async function newWorld(accounts = [OWN, OTHER, OTHER_PREFIX], table?: Table) {
  const world = table ?? (await newTable());
  for (const account of accounts) {
    await putAccount(world, { account_id: account, name: NAME, permissions: ['monit', 'feed'] });
    for (const kind of Object.keys(PARTS) as RowKind[])
      if (kind !== 'account' && kind !== 'listedAccount' && kind !== 'appKey')
        await put(world, keyOf(kind, account), { text: NAME });
    await put(world, { pk: `ACCOUNT#${account}#OF_NO_KIND`, sk: 'x' }, { text: NAME });
    // Not in the list of its account, as after a restore.
    await putAppKey(world, { account_id: account }, `key of ${account}`);
  }
  return { table: world, admin: adminOf(world) };
}

const asOperator = await startAsOperator(dynamodbEndpoint());
afterAll(asOperator.close);

/** A clock that is past the wait at its second look. */
const leaping = () => {
  let atMs = Date.now();
  return () => (atMs += SETTLE_MS);
};
const erase = (admin: ReturnType<typeof adminOf>, account = OWN) =>
  admin(`account erase ${account} --yes`, { now: leaping() });

describe('account erase', () => {
  it('deletes the rows of every kind, and leaves a mark without data, the audit, and other accounts as they are', async () => {
    const { table, admin } = await newWorld();
    const before = await rowsIn(table);
    expect(new Set(kindsOf(before)).size).toBe(Object.keys(PARTS).length + 3);
    const dry = await admin(`account erase ${OWN} --dry-run --json`);
    expect(JSON.parse(dry.out)).toMatchObject({
      dry_run: true,
      account_id: OWN,
      rows: { app_key: 1, internal_row: 5 },
    });
    expect((await admin(`account erase ${OWN} --dry-run`)).err).toContain(
      '19 rows would be erased: 1 app key, 1 member, 1 host, 1 host report, 1 retired host, 1 RUM resource, ' +
        '1 RUM usage row, 1 work item, 1 incident, 1 merge record, 1 alert, 1 alert key, 1 idempotency key, ' +
        '5 internal rows, 1 unknown row.\n',
    );
    expect(sorted(await rowsIn(table))).toEqual(sorted(before));

    const { exitCode, out, err } = await erase(adminOf(table, asOperator.endpoint));
    expect([exitCode, out]).toEqual([
      0,
      expect.stringMatching(/^Account 42 is erased: 19 rows and 0 refused messages\./),
    ]);
    // Once more for the key that the account did not list, which worked until it was deleted.
    const waiting = 'Waiting 100 s for calls and records that came before.\n';
    expect(err.replaceAll('17 rows are deleted.\n', '')).toBe(
      `Account 42 is marked as erased: its calls and records are refused.\n${waiting}${waiting}`,
    );
    const after = await rowsIn(table);
    for (const other of [OTHER, OTHER_PREFIX]) expect(sorted(of(other, after))).toEqual(sorted(of(other, before)));
    const left = of(OWN, after);
    expect(kindsOf(left)).toEqual(['account', 'audit', 'audit']);
    const [mark] = left.filter((row) => parseKey(row)?.kind === 'account');
    const times = { erased_at_ms: expect.any(Number), erasure_ended_at_ms: expect.any(Number) };
    const state = { account_id: OWN, name: '', permissions: [], cursor_secret: new Uint8Array(), suspended: true };
    expect(mark).toEqual({ ...keys.account(OWN), ...state, ...times, revision: expect.any(Number) });
    expect(after.filter(({ command }) => command === 'account erase')).toMatchObject([
      { result: 'done', event: 'AccountErased' },
    ]);
  });

  it('is what erases the comment of a merge; the name of a member, a record overwrites', async () => {
    const table = await newTable();
    const { account, incident, alerts } = await newAccount(table);
    const ingest = ingestOver(table);
    const name = (name: string) =>
      ingest.deliver([JSON.stringify({ kind: 'member', account_id: account, member_id: 7, name })]);
    const kindsWithName = async () =>
      kindsOf((await rowsIn(table)).filter((row) => JSON.stringify(row).includes(NAME)));
    await name(NAME);
    const merge = ['merge', 'alerts', await incident(), ...(await alerts(1)), '--account', String(account)];
    await adminOf(table)([...merge, '--owner', '7', '--comment', `${NAME} asked`]);
    expect(await kindsWithName()).toEqual(['historyEntry', 'member']);
    await name('erased');
    expect(await kindsWithName()).toEqual(['historyEntry']);
  });

  it('is asked for with the id, also on this machine, and does nothing without it', async () => {
    const { table, admin } = await newWorld([OWN]);
    const before = sorted(await rowsIn(table));
    const needs = expect.stringContaining(`Pass --yes to erase account ${OWN} (${NAME}) on this machine without`);
    expect(await admin(`account erase ${OWN}`)).toMatchObject({ exitCode: 2, err: needs });
    const asked = await admin(`account erase ${OWN}`, { terminal: true, stdin: 'y\n' });
    expect(asked).toMatchObject({ exitCode: 1, err: expect.stringContaining('Nothing was erased.') });
    expect(sorted(await rowsIn(table))).toEqual(before);
    const answered = await admin(`account erase ${OWN}`, { terminal: true, stdin: `${OWN}\n`, now: leaping() });
    expect(answered).toMatchObject({ exitCode: 0, err: expect.stringContaining('with all its data, for ever.') });
    expect(await admin('account erase 7 --yes')).toMatchObject({
      exitCode: 1,
      err: 'Account 7 does not exist: `account list` shows all accounts.\n',
    });
  });

  it('waits for longer than anything that began before may still write', () => {
    const functions = Object.entries(resourcesOf(inject('template'), 'AWS::Lambda::Function'));
    const [, ingest] = functions.find(([id]) => /^ingestrecords/i.test(id)) ?? [];
    expect(SETTLE_MS).toBeGreaterThan(ACCOUNT_MS + ingest?.Properties.Timeout * 1_000);
  });

  it('ends the use of the id at once: nothing creates, changes or lists it, and no key of it works', async () => {
    const { table, admin } = await newWorld([OWN]);
    const appKey = (await admin(`app-key issue --account ${OWN}`)).out.trim();
    await admin('account create 50 --name Other');
    const stop = new AbortController();
    const onErr = (text: string) => {
      if (text.includes('Waiting')) stop.abort();
    };
    expect(await admin(`account erase ${OWN} --yes`, { signal: stop.signal, onErr })).toMatchObject({
      exitCode: 130,
      err: expect.stringMatching(/Stopped\. Run the same command again to finish\.\n$/),
    });
    const find = (key: string) => createAppKeys(testDeps(table)).find(key);
    expect(await find(appKey)).toBeUndefined();
    expect(await stored(table, keys.member(OWN, 7))).toBeDefined();
    const refusals = async () => {
      for (const [args, stdin] of [
        [`account create ${OWN} --name ${NAME.split(' ')[0]}`],
        [`account grant ${OWN} monit`],
        [`account unsuspend ${OWN}`],
        [`account rename ${OWN} Acme`],
        [`app-key issue --account ${OWN}`],
        [`export --account ${OWN}`],
        ['import -', lines(accountLine(OWN))],
        ['import -', lines(accountLine(OWN), itemLine(OWN))],
        ['import -', lines(itemLine(OWN))],
        ['import -', lines({ kind: 'app_key', account_id: OWN, app_key: 'k'.repeat(43) })],
      ] as const) {
        const result = await admin(args, { stdin: stdin ?? '' });
        expect([args, result.exitCode, result.err]).toEqual([
          args,
          1,
          expect.stringMatching(/\b42 (was|is being) erased/),
        ]);
      }
      expect((await admin('account list --json')).out).not.toContain(String(OWN));
    };
    await refusals();
    const shown = await admin(`account show ${OWN}`);
    expect(shown).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^Account 42 is being erased, since /) });
    const check = await admin('check');
    const finding = 'erasure_unfinished: account 42: run `account erase 42` again\n';
    expect(check).toEqual({ exitCode: 3, out: finding, err: '1 finding, which `repair` cannot fix.\n' });
    const { exitCode, err } = await erase(admin);
    expect([exitCode, err]).toEqual([
      0,
      expect.stringMatching(/^Account 42 is being erased, since .*: .* goes on\.\n/),
    ]);
    await refusals();
    expect(await admin('check')).toMatchObject({ exitCode: 0, out: 'No problems found.\n' });
    const audit = JSON.parse((await admin(`audit --account ${OWN} --json`)).out);
    const erasures = audit.filter(({ command }: { command: string }) => command === 'account erase');
    expect(erasures.map(({ result }: { result: string }) => result)).toEqual(['failed', 'done']);
  });

  it('drops records that arrive later, good, bad, and no JSON, by the account that the feed reads, and keeps those of others', async () => {
    const { table, admin } = await newWorld([OWN, OTHER]);
    await erase(admin);
    const before = sorted(await rowsIn(table));
    const ingest = ingestOver(table);
    const good = { kind: 'member', account_id: OWN, member_id: 1, name: NAME };
    const others = { ...good, account_id: OTHER, kind: 'unheard of', name: 'of another' };
    const bad = { ...good, kind: 'unheard of' };
    const many = (line: object) => `${JSON.stringify(line)}\n`.repeat(1_000);
    const nested = JSON.stringify({ ...others, labels: { account_id: OWN } });
    const mixed = `${many(others)}${JSON.stringify(good)}`;
    const cut = `{"account_id":${OWN},`;
    await ingest.deliver([
      [good, bad, others].map((line) => JSON.stringify(line)).join('\n'),
      `${many(good)}${JSON.stringify(good)}`,
      JSON.stringify({ account_id: OWN, from: '/feed/records', text: NAME }),
      `{"kind":"${NAME}","\\u0061ccount_id":4200e-2}`,
      JSON.stringify({ ...bad, labels: { account_id: OTHER } }),
      nested,
      mixed,
      cut,
    ]);
    const kept = [JSON.stringify(others), nested, mixed, cut];
    expect(ingest.refused.map(({ body }) => body)).toEqual(kept);
    await ingest.deliver(
      [`{"name": "${NAME}`, `{"account_id":${OTHER},"x":"${NAME}`, JSON.stringify(bad)],
      1,
      60_000,
      OWN,
    );
    await ingest.deliver([JSON.stringify(bad)], 1, 60_000, OTHER);
    expect(ingest.refused).toHaveLength(kept.length);
    expect(JSON.stringify(ingest.deps.log.lines)).not.toContain(NAME);
    expect(ingest.deps.log.lines).toContainEqual({
      ...{ level: 'warn', message: 'records of an erased account dropped' },
      fields: { account_id: String(OWN), records: 1 },
    });
    expect(ingest.counts()).toEqual({ records: 0, late: 0, refused: 14, failed: 0 });
    expect(sorted(await rowsIn(table))).toEqual(before);
  });

  it.each(['is not carried out', 'loses its reply'])(
    'goes on after a run that ended at any call, which %s',
    async (how) => {
      const { table } = await newWorld([]);
      let left = 0;
      const proxy = await startDynamoDbProxy(dynamodbEndpoint(), async (_call, send) => {
        left -= 1;
        const answer = left >= 0 || how === 'loses its reply' ? await send() : undefined;
        return left >= 0 ? answer : accessDenied('dead');
      });
      onTestFinished(proxy.close);
      const [dying, living] = [adminOf(table, proxy.endpoint), adminOf(table)];
      let exitCode = 1;
      for (let calls = 1; exitCode !== 0; calls += 1) {
        const account = 1_000 + calls;
        await newWorld([account], table);
        left = calls;
        ({ exitCode } = await erase(dying, account));
        if (exitCode !== 0) expect(await erase(living, account)).toMatchObject({ exitCode: 0 });
        const rows = of(account, await rowsIn(table));
        expect(new Set(kindsOf(rows)), `after ${calls} calls`).toEqual(new Set(['account', 'audit']));
        expect((await stored(table, keys.account(account))).erasure_ended_at_ms).toBeGreaterThan(0);
      }
      expect((await living('check')).out).toBe('No problems found.\n');
    },
  );
});

it('looks once more after it has deleted rows, and deletes what was written meanwhile', async () => {
  const { table } = await newWorld([OWN]);
  await remove(table, keys.appKey(hashOf(OWN))); // a key that is found leads to another look
  let scans = 0;
  const proxy = await startDynamoDbProxy(dynamodbEndpoint(), async ({ action }, send) => {
    const answer = await send();
    if (action === 'Scan') scans += 1;
    if (action === 'Scan' && scans === 1) await put(table, keys.member(OWN, 8), { name: NAME });
    return answer;
  });
  onTestFinished(proxy.close);
  const erased = expect.stringContaining('is erased: 19 rows');
  expect(await erase(adminOf(table, proxy.endpoint))).toMatchObject({ exitCode: 0, out: erased });
  expect([scans, kindsOf(of(OWN, await rowsIn(table)))]).toEqual([3, ['account', 'audit', 'audit']]);
});

const INCIDENTS = ['1', '2'].map((digit) => digit.repeat(24));
/** Just more than one transaction can move, which also looks at the account. */
const ALERTS = Array.from({ length: 97 }, (_, index) => String(index).padStart(24, 'a')).join(' ');

it.each<[command: string, at: string, said: string, stdin?: string]>([
  // After the file was checked, the findings or the alert were read, and before the first row is written.
  ['import -', 'PutItem', 'Account 42 was erased', lines(itemLine(OWN))],
  ['repair --account 42 --write', 'PutItem', '0 of 1 finding repaired'],
  ['alert close k --account 42', 'PutItem', 'Account 42 was erased'],
  [`merge undo ${INCIDENTS[1]} SEQUENCE --account 42`, 'TransactWriteItems', 'Account 42 was erased'],
  [`merge alerts ${INCIDENTS[1]} ALERTS --account 42`, 'TransactWriteItems', 'Account 42 was erased'],
])('%s that began before the erasure writes no further row', async (command, at, said, stdin = '') => {
  const table = await newTable();
  const admin = adminOf(table);
  const alert = { kind: 'alert', account_id: OWN, title: NAME };
  const data = lines(
    accountLine(OWN),
    ...INCIDENTS.map((incident_id) => ({ kind: 'incident', account_id: OWN, incident_id, title: NAME })),
    { ...alert, alert_id: ID, incident_id: INCIDENTS[0] },
    { ...alert, alert_key: 'k', alert_status: 'Critical' },
    ...(command.includes('ALERTS') ? ALERTS.split(' ').map((alert_id) => ({ ...alert, alert_id })) : []),
  );
  expect(await admin('import -', { stdin: data })).toMatchObject({ exitCode: 0 });
  await admin(`merge alerts ${INCIDENTS[1]} ${ID} --account ${OWN}`);
  const [pointer] = (await rowsIn(table)).filter((row) => parseKey(row)?.kind === 'logPointer');
  const { pk, sk } = pointer ?? expect.unreachable('there was a merge');
  if (command.startsWith('repair')) await remove(table, { pk, sk });
  let isErased = false;
  const proxy = await startDynamoDbProxy(dynamodbEndpoint(), async ({ action }, send) => {
    if (!isErased && action === at) {
      isErased = true;
      await erase(admin);
    }
    return send();
  });
  onTestFinished(proxy.close);
  const words = command.replace('SEQUENCE', String(Number(sk))).replace('ALERTS', ALERTS);
  const result = await adminOf(table, proxy.endpoint)(words, { stdin });
  expect(result).toMatchObject({ exitCode: 1, err: expect.stringContaining(said) });
  expect(new Set(kindsOf(of(OWN, await rowsIn(table))))).toEqual(new Set(['account', 'audit']));
});

it('what writes for long looks every 30 s whether the account is erased', async () => {
  const { table, admin } = await newWorld([OWN]);
  let nowMs = 0;
  const requireStillThere = createErasureWatch(table, { now: () => nowMs, monotonicNow: () => nowMs });
  await requireStillThere(OWN);
  await erase(admin);
  nowMs = ACCOUNT_MS - 1;
  await requireStillThere(OWN);
  nowMs = ACCOUNT_MS;
  await expect(requireStillThere(OWN)).rejects.toThrow(`account ${OWN} was erased`);
});
