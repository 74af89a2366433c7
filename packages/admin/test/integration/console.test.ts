import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createRateLimiter } from '../../../../lib/http/rate-limit.ts';
import { browseFleet } from '../../../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../../../lib/operations/delete-work-item/schema.ts';
import { alertIndex } from '../../../../lib/table/alert-index.ts';
import { keys, partitions } from '../../../../lib/table/keys.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { hostId, inventory, live, newFleet } from '../../../../test/support/fleet.ts';
import { newAccount, objectId } from '../../../../test/support/incidents.ts';
import { ingestOver } from '../../../../test/support/ingest.ts';
import { callAlone, createHandlers, NOW, newTable, put, putAll, testDeps } from '../../../../test/support/service.ts';
import { putAccount } from '../../accounts/accounts.ts';
import { auditRow } from '../../accounts/audit-rows.ts';
import { markErased } from '../../accounts/erase-account.ts';
import { countAlerts } from '../../incidents/list.ts';
import { enterFakeAws } from '../support/aws.ts';
import { type AskOptions, serveConsole, textOf } from '../support/console-pages.ts';
import { adminOf, runCommand } from '../support/run-admin.ts';

const table = await newTable();
/** A console with which the test is signed in. */
const signedIn = await serveConsole({ table, now: () => NOW });
await signedIn.signIn();
afterAll(() => signedIn.close());
const { home, port } = signedIn;
const handlers = createHandlers(testDeps(table, { now: () => NOW }));

const run = adminOf(table);
const admin = async (args: string) => (await run(args, { now: () => NOW })).out;
/** What a page shows, in one line. */
const show = async (path: string) => textOf((await signedIn.page(path)).text);
/** A console with other options, with which the test is signed in. */
async function serve(options: Parameters<typeof serveConsole>[0]) {
  const console = await serveConsole(options);
  onTestFinished(console.close);
  const entered = await console.signIn();
  return { ...console, entered };
}

describe('who is let in', () => {
  it('only the browser that first opens the printed address, by its cookie', async () => {
    const { entered, home, signInPath, page, ask } = await serve({ table });
    const cookie = `^console=[\\w-]{43}; Path=${home}/; HttpOnly; SameSite=Strict$`;
    expect(String(entered.headers['set-cookie'])).toMatch(new RegExp(cookie));
    const redirected = { status: 302, headers: { location: `${home}/` } };
    expect(entered).toMatchObject(redirected);
    const text = expect.stringContaining(`<base href="${home}/">`);
    for (const path of ['', '/', '/feed']) expect(await page(path)).toMatchObject({ status: 200, text });
    expect((await ask(signInPath)).status).toBe(401);
    expect(await page(signInPath.replace(home, ''))).toMatchObject(redirected);
  });

  const signedOut = { headers: { cookie: '' } };
  const from = (host: string) => ({ headers: { host } });
  // `HOME` stands for the secret path.
  it.each<readonly [path: string, options: AskOptions, status: number]>([
    ['HOME', signedOut, 401],
    ['HOME', { headers: { cookie: `console=${'A'.repeat(43)}` } }, 401],
    ['HOME?token=wrong', signedOut, 401],
    ['HOME/x', signedOut, 401],
    ['/1/health', {}, 401],
    ['HOME', from(`localhost:${port}`), 200],
    ['HOME', from('127.0.0.1.evil.example'), 403],
    ['/other', from('evil.example'), 403],
    ...['POST', 'DELETE', 'HEAD'].map((method) => ['HOME', { method }, 405] as const),
    ['/console.css', {}, 200],
    ['//elsewhere/x', {}, 401],
    ['HOME/nowhere', {}, 404],
    ['HOME/x/account', {}, 404],
    ['HOME/0/fleet', {}, 404],
    ['HOME/99999999999999999999/health', {}, 404],
  ])('%s %j is answered with %i, and tells others nothing', async (path, options, expected) => {
    const isOwn = path.startsWith('HOME');
    const { page, ask } = signedIn;
    const { status, headers, text } = await (isOwn ? page(path.slice('HOME'.length), options) : ask(path, options));
    expect(status).toBe(expected);
    expect(headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; style-src 'self'; script-src 'self'; require-trusted-types-for 'script'; img-src data:; form-action 'self'; base-uri 'self'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      ...(status === 405 && { allow: 'GET' }),
      ...([401, 404].includes(status) && { 'cache-control': 'no-store' }),
    });
    if (status < 400 || options.method === 'HEAD') return;
    expect([text.includes('<table'), text.includes(home)]).toEqual([false, isOwn]);
    expect(/<a class="skip" href="(.*?)#/.exec(text)?.[1]).toBe(path.replace('HOME', home).replace(/^\/+/, '/'));
  });
});

const HOSTILE = '<script>alert(1)</script>\u202e"\'&\u0007\u2066';
const SHOWN = '&lt;script&gt;alert(1)&lt;/script&gt;\\u202e&quot;&#39;&amp;\\u0007\\u2066';
/** The only script of a page. */
const OWN_SCRIPT = '<script type="module" src="/console.js"></script>';
/** Expects that a page has no script of others, and no characters that reorder or hide text. @returns the page */
async function harmless(path: string, expected = 200): Promise<string> {
  const { status, text } = await signedIn.page(path);
  expect([path, status]).toEqual([path, expected]);
  expect(text.replace(OWN_SCRIPT, '').replaceAll('\n', ''), path).not.toMatch(/<script|[\p{Cc}\p{Cf}]/u);
  return text;
}

describe('text that others have written', () => {
  it('has no effect on any page', async () => {
    const tenant = await newAccount(table);
    const { account } = tenant;
    await putAccount(table, { account_id: account, name: HOSTILE, permissions: [HOSTILE] });
    const incident = await tenant.incident({ title: HOSTILE, owner_id: 7 });
    const [alert, openId] = [objectId(), objectId()];
    const open = {
      ...{ alert_id: openId, alert_key: HOSTILE, title: HOSTILE, description: HOSTILE, labels: { [HOSTILE]: HOSTILE } },
      ...{ source_url: `javascript:${HOSTILE}`, alert_severity: 'Critical', incident_id: incident },
      annotations: { [HOSTILE]: `https://${HOSTILE}`, url: `javascript:${HOSTILE}` },
      ...alertIndex.entry(account, { alert_id: openId, alert_severity: 'Critical', started_at_ms: NOW }),
      ...{ key_order: new Uint8Array(24), started_at_ms: NOW },
    };
    const command = { by: HOSTILE, command: HOSTILE, target: HOSTILE, detail: HOSTILE };
    const item = { work_item_id: HOSTILE, title: HOSTILE, version: 1, deleted_at_ms: NOW, deleted_by: HOSTILE };
    for (const [key, row] of [
      [keys.member(account, 7), { member_id: 7, name: HOSTILE }],
      [keys.alert(account, alert), { alert_id: alert, title: HOSTILE }],
      [keys.alert(account, openId), open],
      [keys.host(account, HOSTILE), inventory({ agent_version: HOSTILE, edge_cluster: HOSTILE })],
      [keys.workItem(account, HOSTILE), item],
      [keys.rumResource(account), { version: HOSTILE, status: HOSTILE }],
    ] as const)
      await put(table, key, row);
    await putAll(table, [auditRow(account, { id: 'a', at_ms: NOW, result: 'failed', ...command })]);
    await put(table, { pk: partitions.audit(account), sk: 'z' }, {}); // in place of an entry
    const merge = { alert_ids: [alert], incident_id: incident, comment: HOSTILE, title: HOSTILE };
    expect((await tenant.merge(handlers.mergeAlerts, merge)).status).toBe(200);
    const encoded = encodeURIComponent(HOSTILE);
    for (const [path, times] of [
      ['', 1],
      [`/${account}/fleet`, 7],
      [`/${account}/host?id=${encoded}`, 5],
      [`/${account}/incidents`, 5],
      [`/${account}/incident/${incident}`, 5],
      [`/${account}/alert/${alert}`, 4],
      [`/${account}/alerts`, 6],
      [`/${account}/alert/${openId}`, 11],
      [`/${account}/account`, 6],
      [`/${account}/work-items`, 5],
      [`/find?id=${encoded}`, 5],
      [`/${account}/fleet?cluster=${encoded}&version=${encoded}`, 9],
    ] as const)
      expect((await harmless(path)).split(SHOWN).length - 1, path).toBeGreaterThanOrEqual(times);
    expect(await harmless(`/${account}/alert/${openId}`)).not.toContain('href="javascript:');
  });

  it('is not found in an address that is longer than any key, and is cut where it is long', async () => {
    const tenant = await newAccount(table);
    const at = `/${tenant.account}`;
    const long = 'x'.repeat(2_000);
    for (const id of [long, '%zz', '..%2f..%2faccount', '%ED%A0%80'])
      for (const page of [`incident/${id}`, `host?id=${id}`]) await harmless(`${at}/${page}`, 404);
    await tenant.incident({ title: '🔥'.repeat(100_000) });
    expect((await harmless(`${at}/incidents`)).length).toBeLessThan(30_000);
    expect(signedIn.failures).toEqual([]);
  });
});

describe('the fleet', () => {
  /** Hosts of two clusters, `bad` and `good`. The first `stale` hosts of `bad` are stale. */
  async function fleetOf(hosts: number, stale: number) {
    const fleet = await newFleet(table);
    const { account } = fleet;
    await putAccount(table, { account_id: account, name: 'Acme', permissions: ['monit'] });
    const isBad = (index: number) => index % 2 === 0;
    const inventoryOf = (index: number) =>
      inventory({ edge_cluster: isBad(index) ? 'bad' : 'good', report_interval_ms: 30_000 });
    const liveOf = (index: number) => live(isBad(index) && index / 2 < stale ? { received_at_ms: NOW - 600_000 } : {});
    const ids = Array.from({ length: hosts }, (_, index) => hostId(index));
    await fleet.putHosts(Object.fromEntries(ids.map((id, index) => [id, inventoryOf(index)])));
    await fleet.putLive(Object.fromEntries(ids.slice(0, 20).map((id, index) => [id, liveOf(index)])));
    return { account, page: (query = '') => show(`/${account}/fleet${query}`) };
  }
  const stale = [hostId(0), hostId(2), hostId(4)];

  it('names the worst first, says why as `show host` does, and the commands that it names find the same hosts', async () => {
    const { account, page } = await fleetOf(20, 3);
    const { why } = JSON.parse(await admin(`show host ${hostId(0)} --account ${account} --json`));
    expect(why).toMatch(/^The latest snapshot is 10 min old/);
    const text = await page();
    for (const shown of [
      '20 hosts 3 stale 17 active',
      'bad 30 % of 10 3 stale good 0 % of 10 ',
      `${hostId(0)} stale snapshot overdue ${why} (rule 7) bad 1.0.0 20:17:00 UTC 10 minutes ago ${hostId(2)} stale`,
      /up to 10 seconds 17 .* up to 1 hour 3 /,
      /Read [\d.]+ read units, about \$0\.0000\d+ on demand\./,
    ])
      expect(text).toMatch(shown);

    const hostsIn = (shown: string) => shown.slice(shown.indexOf(' reported ')).match(/host-\d{5}/g) ?? [];
    const filtered = await page('?status=stale&cluster=bad&version=1.0.0');
    expect(hostsIn(filtered)).toEqual(stale);
    for (const query of ['?status=stale&cluster=good', '?version=1.0.1'])
      expect(hostsIn(await page(query))).toEqual([]);
    // `host retire` takes the time from DynamoDB; `host list` has the same filters.
    const [, list = ''] = /admin -- (host list .*?) --table t/.exec(filtered) ?? [];
    const [, retire = ''] = /admin -- (host retire .*?) --table t/.exec(filtered) ?? [];
    expect((await admin(list)).match(/^host-\d{5}/gm)).toEqual(stale);
    const inMonth = await run(retire.replace('retire', 'list').replace(' --dry-run', ''), {
      now: () => NOW + 31 * 86_400_000,
    });
    expect(inMonth.out.match(/^host-\d{5}/gm)).toHaveLength(10);
  });

  it('has a page for each host, also one without inventory', async () => {
    const { account } = await fleetOf(1, 1);
    const host = (id: string) => `/${account}/host?id=${id}`;
    expect(await show(host(hostId(0)))).toMatch(
      /stale The latest snapshot is 10 min old: .*report interval 30 seconds /,
    );
    await put(table, keys.hostStatus(account, '..'), { ...live(), health_at_ms: 'soon' });
    expect(await show(host('..'))).toMatch(
      /It is not in the inventory.* Inventory none Live status .* health at soon host id \.\. /,
    );
    expect((await signedIn.page(host('gone'))).status).toBe(404);
  });

  it('reads at most 2,000 hosts unless asked for all, and its links lead to each host once', async () => {
    const { account, page } = await fleetOf(2_130, 3);
    expect(await page()).toMatch(/This page covers only the hosts up to host-01999\. .* 2,000 hosts /);
    const seen: string[] = [];
    for (let path: string | undefined = `${account}/fleet`; path; ) {
      const { text }: { text: string } = await signedIn.page(`/${path.replace('#hosts', '')}`);
      seen.push(...(textOf(text.slice(text.indexOf('>Hosts<'))).match(/host-\d{5}/g) ?? []));
      path = /href="([^"]*)">Next hosts/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    // The worst come first within each 2,000 hosts.
    expect(seen.slice(0, 3)).toEqual(stale);
    expect(seen.toSorted()).toEqual(Array.from({ length: 2_130 }, (_, index) => hostId(index)));
    expect(await page('?read=all')).toMatch(/^(?!.*This page covers only).*2,130 hosts/);
  });
});

it('merges are listed with caller, time, alerts and request id, incidents with their alerts, and the printed command undoes a merge', async () => {
  const tenant = await newAccount(table);
  const { account } = tenant;
  const page = (path: string) => show(`/${account}/${path}`);
  const [first, second] = [await tenant.incident({ title: 'First' }), await tenant.incident({ title: 'Second' })];
  await tenant.member(7);
  const owned = await tenant.incident({ title: 'Owned', owner_id: 7 });
  const alerts = await tenant.alerts(3);
  const merge = async (agoMs: number, incident_id: string) => {
    const { mergeAlerts } = createHandlers(testDeps(table, { now: () => NOW - agoMs }));
    const { body } = await tenant.merge(mergeAlerts, { alert_ids: alerts, incident_id, comment: 'same cause' });
    return body.request_id as string;
  };
  const requests = [await merge(3_600_000, first), await merge(60_000, second)];

  const before = await page('incidents');
  for (const row of [`Second ${second} 3 1 `, `Owned ${owned} Ada 0 0 `]) expect(before).toContain(row);
  const shown = 'Merge into Second [\\d:]+ UTC 1 minute ago 3 alerts from First comment: same cause by key \\w{16} ';
  expect(before).toMatch(new RegExp(`Latest merges ${shown}.*?request ${requests[1]} .*request ${requests[0]} `));
  expect(await page(`incident/${second}`)).toMatch(new RegExp(`3 alerts from First comment: same .*${requests[1]}`));
  expect(await page(`alert/${alerts[0]?.toUpperCase()}`)).toMatch(
    new RegExp(`incident Second ${second} .*Merge into Second .*${requests[1]}.* Merge into First .*${requests[0]}`),
  );
  expect(await countAlerts(table, account, 3)).toEqual(new Map([[second, 3]]));
  expect(await countAlerts(table, account, 2)).toBeUndefined();

  const [, undo = ''] = /npm run --silent admin -- (merge undo \w+ \d+ --account \d+) --table t/.exec(before) ?? [];
  expect(undo).toContain(second);
  expect(await admin(undo)).toMatch(/^3 of 3 alerts moved back/);
  const after = await page('incidents');
  expect(after).toMatch(/Undo of \d+ into Second .* by operator .* Merge into Second undone /);
  expect(after).not.toContain(undo);

  await putAll(
    table,
    Array.from({ length: 100 }, (_, index) => keys.incident(account, String(index).padStart(24, 'f'))),
  );
  const older = await page('incidents');
  expect(older).toMatch(
    /Latest merges Undo of \d+ into Second .* Incidents 100 incidents, in descending order of id\. /,
  );
  expect(older).not.toContain(' Owned ');
});

it('the page of an account shows its members and the last record of each kind; an account that was erased has none', async () => {
  const { account } = await newAccount(table);
  await ingestOver(table, () => NOW - 7_200_000).send({
    ...{ kind: 'member', account_id: account, member_id: 101, name: 'Ada Okafor' },
  });
  const text = await show(`/${account}/account`);
  expect(text).toMatch(/Last records kind last record member .*2 h.* Members member name 101 Ada Okafor /);
  await markErased(table, account, NOW, []);
  expect(await show(`/${account}/account`)).toContain(`There is no account ${account}.`);
});

it('the page of an account shows its keys but not their text, its rate windows without counting a call, and its quotas', async () => {
  const { account } = await newAccount(table);
  const appKey = (await admin(`app-key issue --account ${account} --note pipeline`)).trim();
  await put(table, keys.rumResource(account), { version: 'free', status: 'enabled', 'session_replay.free_cnt': 200 });
  await put(table, keys.rumUsage(account), { 'session_replay.used_cnt': 50 });
  const limiter = createRateLimiter(browseFleet, { table, now: () => NOW, newId: () => crypto.randomUUID() });
  await limiter.take(account);
  const text = await show(`/${account}/account`);
  expect(text).not.toContain(appKey);
  expect(text).toContain(`…${appKey.slice(-4)} valid`);
  expect(text).toMatch(/session_replay 50 of 200 .*1 of 2 calls a second .* 1 of 30 calls a minute/);
  expect(await show(`/${account}/account`)).toContain('1 of 30');
});

it('the page of work items shows who deleted them, by which call, and the command that restores them', async () => {
  const { account, appKey } = await newAccount(table);
  await put(table, keys.workItem(account, 'lost'), { work_item_id: 'lost', title: 'title', version: 1 });
  const call = { appKey, body: { work_item_id: 'lost', version: 1 } };
  const { body } = await callAlone(handlers, deleteWorkItem, call);
  const deletion = `[\\d:]+ UTC less than a second ago by key \\w{16} .*?request ${body.request_id} `;
  const restore = `restore npm run --silent admin -- work-item restore --account ${account} --table t -- lost `;
  expect(await show(`/${account}/work-items`)).toMatch(new RegExp(`lost title 2 ${deletion}.*${restore}`));
});

it('a long title is shown by its beginning, and whole where that leads', async () => {
  const { account, incident } = await newAccount(table);
  const title = `${'x'.repeat(119)}\u{1f600}${'y'.repeat(390)}`;
  const beginning = `${'x'.repeat(119)}…`;
  const id = await incident({ title });
  await put(table, keys.workItem(account, 'w'), { work_item_id: 'w', title, version: 1 });
  await put(table, keys.member(account, 7), { member_id: 7, name: title });
  await put(table, keys.host(account, 'h'), { ...inventory(), tags: [title] });
  await putAccount(table, { account_id: account, name: title, permissions: [] });
  const { text } = await signedIn.page(`/${account}/incident/${id}`);
  expect(text).toMatch(new RegExp(`</small> ${beginning}</h1>`));
  expect(text).toContain(`<dd>${title}</dd>`);
  expect((await signedIn.page(`/${account}/incidents`)).text).toMatch(new RegExp(`<a href="[^"]+">${beginning}</a>`));
  expect((await signedIn.page(`/${account}/account`)).text).toContain(`<dt>name</dt><dd>${title}</dd>`);
  for (const page of ['work-items', 'account', 'host?id=h']) {
    const { text } = await signedIn.page(`/${account}/${page}`);
    expect(text).toContain(`<summary>${beginning}</summary>${title}</details>`);
    expect(text).toContain(`<small>${beginning} <span>account ${account}`);
  }
});

describe('health', () => {
  it("shows pending merges with the command that finishes them; the form of the console's own page checks the account", async () => {
    const tenant = await newAccount(table);
    const { account } = tenant;
    const path = `/${account}/health`;
    const [incident, alert] = [await tenant.incident(), objectId()];
    const row = { alert_id: alert, title: 't', incident_id: incident, moved_sequence: 5 };
    await put(table, keys.alert(account, alert), row);
    await put(table, keys.logHead(account), { last: 5, last_large: 5, pending: { 5: incident } });
    const post = (body: string, headers: Record<string, string> = {}) =>
      signedIn.page(path, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body,
      });
    // As an image or a form of another site would send the request.
    expect((await signedIn.page(`${path}?check=now`)).status).toBe(200);
    for (const body of ['', 'token=wrong', 'token=a&token=b']) expect((await post(body)).status).toBe(403);
    const { text } = await signedIn.page(path);
    const [token = ''] = /(?<=name="token" value=")[\w-]{43}/.exec(text) ?? [];
    expect((await post(`token=${token}`, { cookie: '' })).status).toBe(401);
    const before = textOf(text);
    expect(before).toContain(`npm run --silent admin -- merge finish ${incident} 5 --account ${account} --table t`);
    expect(before).toContain('Not run since');

    const sent = await post(`token=${token}`);
    expect(sent).toMatchObject({ status: 303, headers: { location: `${home}${path}` } });
    const after = await show(path);
    for (const shown of ['alert_entry_missing', /Checked at .*: \d+ findings/]) expect(after).toMatch(shown);
  });

  it('distinguishes a bug of the console from an error of AWS', async () => {
    const { account } = await newAccount(table);
    const noQueue = await serve({ table, deadLetters: () => Promise.reject(new TypeError('why')) });
    expect((await noQueue.page(`/${account}/health`)).text).toContain('They cannot be read: TypeError: why');
    const send = () => Promise.reject(new ReferenceError('no\u202e is not defined'));
    const wrong = await serve({ table: { ...table, client: Object.create(table.client, { send: { value: send } }) } });
    const { status, text } = await wrong.page(`/${account}/health`);
    expect([status, textOf(text)]).toEqual([500, expect.stringMatching(/^(?!.*ReferenceError).*This is a bug in/)]);
    expect(wrong.failures).toEqual([expect.stringMatching(/ReferenceError: no\\u202e is not defined\n +at .*console/)]);

    const gone = await serve({ table: { ...table, name: 'no-such-table' } });
    const unreadable = expect.stringContaining('ResourceNotFoundException');
    expect(await gone.page('/1/health')).toMatchObject({ status: 502, text: unreadable });
  });
});

describe('the command', async () => {
  const outputs: Record<string, string> = { TableName: table.name, AccountPlanId: 'plan' };
  const aws = await enterFakeAws({ Service: { outputs } });
  outputs.DeadLettersUrl = `${aws.url}/1/letters`;
  aws.setQueue({ ApproximateNumberOfMessages: '2', ApproximateNumberOfMessagesNotVisible: '1' });
  const here = ['--table', table.name, '--endpoint', dynamodbEndpoint()];
  const ofTable = `--table ${table.name} --endpoint ADDRESS-WITH-CREDENTIALS`;
  it.each([
    ['of a table', here, ofTable, 'Unknown'],
    ['of a stack', ['--stack', 'Service'], '--stack Service', '3 messages of the merge queue'],
  ])('prints an address that works until it is stopped: %s', async (_what, args, options, deadLetters) => {
    const { account } = await newAccount(table);
    const stop = new AbortController();
    const printed = Promise.withResolvers<string>();
    const io = { env: { AWS_REGION: 'eu-west-1' }, signal: stop.signal, onOut: printed.resolve };
    const running = runCommand(['console', ...args], io);
    const address = (await Promise.race([printed.promise, running.then(({ err }) => err)])).trim();
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{43}\/\?token=[\w-]{43}$/);
    const entered = await fetch(address, { redirect: 'manual' });
    const cookie = String(entered.headers.get('set-cookie')).split(';')[0] ?? '';
    const browse = async (page: string) =>
      textOf(await (await fetch(new URL(`${account}/${page}`, address), { headers: { cookie } })).text());
    expect(await browse('fleet')).toContain('The account has no hosts.');
    const alerts = await browse('alerts');
    expect(alerts).toContain(`--account=${account} ${options}`);
    expect(alerts).not.toContain(new URL(dynamodbEndpoint()).username);
    expect(await browse('health')).toContain(`Dead letters ${deadLetters}`);
    stop.abort();
    expect((await running).exitCode).toBe(0);
    await expect(fetch(address)).rejects.toThrow();
  });
});
