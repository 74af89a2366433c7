/** Commands that find and show what is stored, and the search of the console. */
import { afterAll, describe, expect, it } from 'vitest';
import { appKeyIdOf, hashAppKey } from '../../../../lib/http/app-keys.ts';
import { stringifyJson } from '../../../../lib/shared/json.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { inventory, live } from '../../../../test/support/fleet.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { ingestOver } from '../../../../test/support/ingest.ts';
import { createHandlers, newTable, put, putAll, testDeps } from '../../../../test/support/service.ts';
import { argumentsBy } from '../../../../test/support/shells.ts';
import { REASON_TEXTS } from '../../../client/src/explain.ts';
import { explainHost } from '../../fleet/hosts.ts';
import { serveConsole, textOf } from '../support/console-pages.ts';
import { type AdminOptions, runCommand } from '../support/run-admin.ts';

const NOW = 1_800_000_000_000;
const table = await newTable();
/** The options come first, since after `--` there can be none. */
const run = (args: readonly string[], options: AdminOptions = {}) =>
  runCommand(['--endpoint', dynamodbEndpoint(), '--table', table.name, ...args], { now: () => NOW, ...options });
const admin = (args: string, options?: AdminOptions) => run(args.split(' '), options);
const jsonOf = async (args: string) => JSON.parse((await admin(`${args} --json`)).out);

const HOST = { ...inventory({ edge_cluster: 'fra-1', report_interval_ms: 30_000 }), host_id: 'h' };
const LIVE = { ...live({ received_at_ms: NOW - 5_000 }), host_id: 'h' };
const OLD = { ...LIVE, received_at_ms: NOW - 612_000 };
const { received_at_ms: _none, ...HEALTH } = { ...LIVE, health_at_ms: NOW };

describe('find', async () => {
  const [tenant, other] = [await newAccount(table), await newAccount(table)];
  const { account } = tenant;
  const incident = await tenant.incident();
  const [alert = ''] = await tenant.alerts(1);
  const [host, work_item] = ['fra-1/web é', '-wi 1'];
  const { mergeAlerts } = createHandlers(testDeps(table));
  const { body } = await tenant.merge(mergeAlerts, { alert_ids: [alert], incident_id: incident });
  const item = { version: 3, title: 'T' };
  await put(table, keys.alert(other.account, alert), { alert_id: alert, title: 't' });
  await put(table, keys.workItem(account, work_item), { ...item, work_item_id: work_item, deleted_at_ms: 1 });
  await putAll(table, [
    ...[account, other.account].map((id) => ({ ...keys.host(id, host), edge_cluster: 'fra-1' })),
    // More items than a console page lists. They sort between `-wi ` and `-wi 1`, so a page that starts after the id
    // without its last character does not contain the item above.
    ...Array.from({ length: 60 }, (_, index) => ({ ...keys.workItem(account, `-wi 0${100 + index}`), ...item })),
  ]);
  await admin(`app-key issue --account ${account}`);
  const [{ app_key_id: app_key }] = await jsonOf(`app-key list --account ${account}`);
  const merge = String(body.request_id);

  type Found = { kind: string; account_id: number; id: string; detail: string; command: string }[];
  const console = await serveConsole({ table });
  await console.signIn();
  afterAll(console.close);
  const find = async (id: string): Promise<Found> => JSON.parse((await run(['find', '--json', '--', id])).out);

  it.each<[kind: string, id: string, detail: RegExp]>([
    ['incident', incident, /^Checkout/],
    ['alert', alert, /; in incident \w{24}$/],
    ['host', host, /inventory/],
    ['work_item', work_item, /^"T"; version 3, deleted 1970/],
    ['account', String(account), /^active$/],
    ['app_key', app_key, /Acme/],
    ['merge', merge, /^entry \d+ of incident \w{24}, done$/],
  ])('names the account that has the id: %s', async (kind, id, what) => {
    const [found, ...others] = (await find(id)).filter(({ account_id }) => account_id === account);
    expect([found, others]).toMatchObject([{ kind, id, detail: expect.stringMatching(what) }, []]);
    const { detail = '', command = '' } = found ?? {};
    const rows = [
      ...[
        `  id              ${id}`,
        `  kind            ${kind.replace('_', ' ')}`,
        `  account         ${account} (Acme)`,
      ],
      ...[`  what            ${detail}`, `  how to show it  admin ${command}\n`],
    ];
    expect((await run(['find', '--', id])).out).toContain(rows.join('\n'));
    // The command that it names shows it, and so does the page that the console's search box leads to.
    const out = expect.stringContaining(kind === 'merge' ? incident : id);
    expect(await run(argumentsBy('sh', command))).toEqual({ exitCode: 0, err: '', out });
    const { text: results } = await console.page(`/find?id=${encodeURIComponent(id)}`);
    const links = [...results.matchAll(/<th scope="row" data-name="id"><a href="([^"]*)"/g)].map(([, to = '']) => to);
    const page = await console.page(`/${links.find((to) => to.startsWith(`${account}/`))?.replaceAll('&amp;', '&')}`);
    expect(page.status).toBe(200);
    if (kind === 'work_item') expect(page.text).toContain('<th scope="row" data-name="work item">-wi 1</th>');
  });

  it('names every account that has the id, in either case of an ObjectID or request id, or by the beginning of the id of a key', async () => {
    const accountsOf = async (id: string) => new Set((await find(id)).map(({ account_id }) => account_id));
    for (const id of [alert, host]) expect(await accountsOf(id)).toEqual(new Set([account, other.account]));
    for (const id of [incident, merge].map((each) => each.toUpperCase())) expect(await find(id)).toHaveLength(1);
    expect(await find(app_key.slice(0, 8))).toMatchObject([{ id: app_key }]);
    for (const id of ['nothing', app_key.slice(0, 7)])
      expect(await admin(`find ${id}`)).toEqual({ exitCode: 1, out: '', err: expect.stringContaining(id) });
    expect((await console.page('/find?id=')).text).toContain(
      '<p>Type an id, or the key of an alert, in the search box.',
    );
  });

  it('puts no stored text that a shell could interpret into a command to paste, nor does the console', async () => {
    const hostile = "a\\'; touch x; #";
    await put(table, keys.host(account, hostile), { edge_cluster: hostile, agent_version: hostile });
    expect(await find(hostile)).toMatchObject([
      { command: `show host --account ${account} -- TEXT-QUOTED-FOR-YOUR-SHELL` },
    ]);
    const query = new URLSearchParams({ id: hostile, cluster: hostile, version: hostile });
    const paths = ['find', `${account}/host`, `${account}/fleet`, `${account}/work-items`];
    const shown = await Promise.all(paths.map(async (path) => (await console.page(`/${path}?${query}`)).text));
    const commands = [...shown.join('').matchAll(/class="copyable"><code>(.*?)<\/code>/g)].map(([, text]) => text);
    expect(commands.length).toBeGreaterThan(3);
    for (const text of commands)
      expect(text).toMatch(/^npm run --silent admin -- [\w=:./ -]*TEXT-QUOTED-FOR-YOUR-SHELL/);
  });
});

it('who deleted a work item, or whose deletion was undone, is shown as what the record says, never as an operator or a key', async () => {
  const { account, appKey } = await newAccount(table);
  const console = await serveConsole({ table, now: () => NOW });
  await console.signIn();
  const actors = [...['operator', 'operator arn:aws:iam::1:user/ada', 'record'], appKeyIdOf(hashAppKey(appKey))];
  for (const [index, actor] of actors.entries()) {
    const [id, title] = [`w${index}`, 'T"; version 1, deleted 2027-01-15 08:00:00 UTC by operator'];
    const item = { kind: 'work_item', account_id: account, work_item_id: id, version: 1, title, at_ms: NOW };
    await ingestOver(table, () => NOW).send({ ...item, deleted_at_ms: NOW, deleted_by: actor });
    const by = `record: ${actor}`;
    const found = await run(['find', id]);
    expect(found.out).toContain(`${JSON.stringify(title)}; version 1, deleted 2027-01-15 08:00:00 UTC by ${by}\n`);
    expect(await jsonOf(`show work-item ${id} --account ${account}`)).toMatchObject({ deleted_by: by });
    expect(textOf((await console.page(`/${account}/work-items?from=${id}`)).text)).toContain(`by ${by} `);
    await admin(`work-item restore ${id} --account ${account}`);
    expect(await jsonOf(`show work-item ${id} --account ${account}`)).toMatchObject({ undone_deletion: { by } });
    // So does an import of a file that says who deleted it.
    const { out } = await admin(`export --account ${account}`);
    const line = out.split('\n').find((text) => text.includes(`"${id}"`)) ?? '';
    expect(JSON.parse(line)).toMatchObject({ undone_deletion: { by: actor } });
    const other = await newAccount(table);
    const stdin = stringifyJson({ ...JSON.parse(line), account_id: other.account });
    expect((await admin('import -', { stdin })).exitCode).toBe(0);
    expect(await jsonOf(`show work-item ${id} --account ${other.account}`)).toMatchObject({ undone_deletion: { by } });
  }
  await console.close();
});

it.each<[rule: number, host: object, live: object, why: RegExp]>([
  [2, { enabled: false }, LIVE, /Collection is not enabled/],
  [2, { capability_status: 'disabled' }, LIVE, /capability_status is disabled/],
  [5, {}, HEALTH, /reported health, but no snapshot has been received/],
  [
    6,
    {},
    { ...LIVE, node_count: 'x' },
    /^Its live status row is malformed\. Its live status could not be read, .*\. It does not tell/,
  ],
  [2, { enabled: 1 }, LIVE, /^Its inventory row is malformed\. Its live status could not be read, /],
  [7, { report_interval_ms: undefined }, OLD, /is 10 min old: more than twice .* 1 min \(the default/],
])('the reason for a status has the rule that decided and its values: %i, %j', (rule, fields, status, why) => {
  const explained = explainHost({ ...HOST, ...fields }, { host_id: 'h', ...status }, NOW);
  expect(explained).toMatchObject({ rule, why: expect.stringMatching(why) });
  // The console shows each in a few words.
  expect(Object.keys(REASON_TEXTS)).toEqual(expect.arrayContaining(explained.reasons));
});

it('show host shows the status, the reason and the rows, also of a host without inventory', async () => {
  const { account } = await newAccount(table);
  const bytes = { mac: Uint8Array.of(1, 255), ports: [Uint8Array.of(2)] };
  await put(table, keys.host(account, 'h'), { ...HOST, ...bytes, row_order: Uint8Array.of(1), ttl: 4_000_000_000 });
  await put(table, keys.hostStatus(account, 'orphan'), LIVE);
  const status = { status: 'no_data', rule: 6, why: expect.any(String), live_status: null };
  const shown = await jsonOf(`show host h --account ${account}`);
  expect(shown).toMatchObject(status);
  expect(shown.inventory).toEqual({ ...HOST, mac: '01ff', ports: ['02'] });
  const { out } = await admin(`show host h --account ${account}`);
  expect(out).toMatch(
    /^h is no_data \(rule 6\)\. Neither.*\n\nInventory\n {2}agent version .*\n {2}host id.*\n\nLive status\n {2}none\n$/s,
  );
  expect(out).toMatch(/^ {2}mac +01ff$/m);
  expect(out).not.toMatch(/order|ttl/);
  const orphan = (await admin(`show host orphan --account ${account}`)).out;
  expect(orphan).toMatch(/^orphan has no status\. It is not in the inventory.*Inventory\n {2}none\n\nLive status\n/s);
  expect(orphan).toMatch(/received at +2027-01-15 07:59:55 UTC$/m);
});

it('show fleet counts every host once, by edge cluster and status, over any number of pages', async () => {
  const { account } = await newAccount(table);
  // More than the thousand hosts that are read at once, in turn active, degraded and stale.
  const statuses = [LIVE, { ...LIVE, snapshot_truncated: true }, OLD];
  const rows = Array.from({ length: 1_100 }, (_, index) => [
    { ...HOST, ...keys.host(account, `h${index}`), edge_cluster: `c${index % 2}` },
    { ...keys.hostStatus(account, `h${index}`), ...statuses[index % 3] },
  ]);
  await putAll(table, rows.flat());
  const none = { initializing: 0, disabled: 0, unsupported: 0, no_data: 0 };
  const counts = (active: number, degraded: number, stale: number) => ({ ...none, active, degraded, stale });
  const edge_clusters = { c0: counts(184, 183, 183), c1: counts(183, 184, 183) };
  const fleet = { account_id: account, hosts: 1_100, statuses: counts(367, 367, 366), edge_clusters };
  expect(await jsonOf(`show fleet --account ${account}`)).toEqual(fleet);
  const { out } = await admin(`show fleet --account ${account}`);
  expect(out).toMatch(
    /^edge cluster +active +degraded +stale .*\nc0 +184 +183 +183 .*\nc1 .*\nall +367 +367 +366 .*\n\n1,100 hosts\.\n$/,
  );
});

it('show incident and alert show what is stored, and the history', async () => {
  const tenant = await newAccount(table);
  await tenant.member(7);
  const [from, to] = [await tenant.incident({ title: 'Other' }), await tenant.incident()];
  const alerts = [...(await tenant.alerts(2, from)), ...(await tenant.alerts(1)), ...(await tenant.alerts(1, to))];
  const show = (what: string) => `show ${what} --account ${tenant.account}`;
  const merge = ['merge', 'alerts', to, ...alerts, '--account', String(tenant.account)];
  await run([...merge, '--title', 'New', '--owner', '7', '--comment', 'one cause']);
  const shown = await jsonOf(show(`incident ${to.toUpperCase()}`));
  const moved = { alert_id: expect.any(String), to };
  const entry = { kind: 'merge', stayed: [alerts[3]], moves: [moved, moved, moved], pending: false };
  const counts = { alerts: 4, open_alerts: 0 };
  expect(shown).toMatchObject({
    incident_id: to,
    title: 'New',
    owner_id: 7,
    owner: 'Ada',
    ...counts,
    history: [entry],
  });
  const { out } = await admin(show(`incident ${to}`));
  expect(out).toMatch(
    /^ {2}title {3}New\n {2}owner {3}7 Ada\n {2}alerts {2}4, of which 0 are open\n {2}merges {2}1\n\nHistory, oldest first:\n[\s\S]*\n\nStored\n/,
  );
  for (const text of [
    ...[`  entry      ${shown.history[0].sequence}\n  at         2027-01-15 08:00:00 UTC\n  what       merge\n`],
    ...[`  state      done\n  incident   ${to}\n`, `  by         ${shown.history[0].by}\n`],
    ...[`2 alerts from ${from}`, '1 alert from no incident', '1 alert already there'],
    ...['title: New (was Checkout is down)', 'owner: 7 (was none)', 'comment: one cause'],
  ])
    expect(out).toContain(text);
  const alert = await jsonOf(`alert show ${alerts[0]} --account ${tenant.account}`);
  expect(alert).toMatchObject({ incident: { incident_id: to, title: 'New' }, moved_from: from });
});
