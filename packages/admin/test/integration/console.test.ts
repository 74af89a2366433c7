import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createRateLimiter } from '../../../../lib/http/rate-limit.ts';
import { browseFleet } from '../../../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../../../lib/operations/delete-work-item/schema.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { hostId, inventory, live, newFleet } from '../../../../test/support/fleet.ts';
import { newAccount, objectId } from '../../../../test/support/incidents.ts';
import { callAlone, handlersOver, NOW, newTable, put, putAll, testDeps } from '../../../../test/support/service.ts';
import { putAccount } from '../../accounts/accounts.ts';
import { auditRow } from '../../accounts/audit-rows.ts';
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
const handlers = handlersOver(testDeps(table, { now: () => NOW }));

const run = adminOf(table);
const admin = async (args: string) => (await run(args, { now: () => NOW })).out;
/** What a page shows, in one line. */
const show = async (path: string) => textOf((await signedIn.page(path)).text);
const statusOf = async (path: string, options?: AskOptions) => (await signedIn.page(path, options)).status;
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
    expect(home).toMatch(/^\/console\/[\w-]{43}$/);
    // Browsers send a cookie to every port of a host, but only to its path.
    const cookie = `^console=[\\w-]{43}; Path=${home}/; HttpOnly; SameSite=Strict$`;
    expect(String(entered.headers['set-cookie'])).toMatch(new RegExp(cookie));
    const redirected = { status: 302, headers: { location: `${home}/` } };
    expect(entered).toMatchObject(redirected);
    // What the links of a page lead to.
    const text = expect.stringContaining(`<base href="${home}/">`);
    for (const path of ['', '/', '/feed']) expect(await page(path)).toMatchObject({ status: 200, text });
    expect((await ask(signInPath)).status).toBe(401);
    // A browser that is already in is redirected.
    expect(await page(signInPath.replace(home, ''))).toMatchObject(redirected);
  });

  const signedOut = { headers: { cookie: '' } };
  const from = (host: string) => ({ headers: { host } });
  // `HOME` stands for the secret path.
  it.each<readonly [path: string, options: AskOptions, status: number]>([
    ['HOME', signedOut, 401],
    ['HOME', { headers: { cookie: `console=${'A'.repeat(43)}` } }, 401],
    ['HOME?token=wrong', signedOut, 401],
    ['HOME/1/fleet', signedOut, 401],
    ['HOME/x', signedOut, 401],
    ['/console', {}, 401],
    ['/console/1/health', {}, 401],
    ['HOME', { headers: { origin: 'https://evil.example' } }, 200],
    ['HOME', from(`127.0.0.1:${port}`), 200],
    ['HOME', from(`localhost:${port}`), 200],
    ['HOME', from('evil.example'), 403],
    ['HOME', from(`evil.example:${port}`), 403],
    ['HOME', from('127.0.0.1.evil.example'), 403],
    ['/other', from('evil.example'), 403],
    ...['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'].map((method) => ['HOME', { method }, 405] as const),
    ['/console/console.css', {}, 200],
    ['//elsewhere/console/x', {}, 404],
    ['///elsewhere', {}, 404],
    ['/other', {}, 404],
    ['HOME/nowhere', {}, 404],
    ['HOME/0/fleet', {}, 404],
    ['HOME/-1/fleet', {}, 404],
    ['HOME/x/account', {}, 404],
    ['HOME/999999999/fleet', {}, 404],
    ['HOME/99999999999999999999/health', {}, 404],
    ['HOME/1', {}, 404],
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
      ...(/^(HOME|\/console)/.test(path) && [401, 404].includes(status) && { 'cache-control': 'no-store' }),
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
    if (status < 400 || options.method === 'HEAD') return;
    expect([text.includes('<table'), text.includes(home)]).toEqual([false, isOwn]);
    expect(/<a class="skip" href="(.*?)#/.exec(text)?.[1]).toBe(path.replace('HOME', home).replace(/^\/+/, '/'));
  });
});

const HOSTILE = '<script>alert(1)</script>\u202e"\'&\u0007\u2066';
const SHOWN = '&lt;script&gt;alert(1)&lt;/script&gt;\\u202e&quot;&#39;&amp;\\u0007\\u2066';
/** The only script of a page. */
const OWN_SCRIPT = '<script type="module" src="/console/console.js"></script>';
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
    const alert = objectId();
    const command = { by: HOSTILE, command: HOSTILE, target: HOSTILE, detail: HOSTILE };
    const item = { work_item_id: HOSTILE, title: HOSTILE, version: 1, deleted_at_ms: NOW, deleted_by: HOSTILE };
    for (const [key, row] of [
      [keys.member(account, 7), { member_id: 7, name: HOSTILE }],
      [keys.alert(account, alert), { alert_id: alert, title: HOSTILE }],
      [keys.host(account, HOSTILE), inventory({ agent_version: HOSTILE, edge_cluster: HOSTILE })],
      [keys.workItem(account, HOSTILE), item],
      [keys.rumResource(account), { version: HOSTILE, status: HOSTILE }],
    ] as const)
      await put(table, key, row);
    await putAll(table, [auditRow(account, { id: 'a', at_ms: NOW, result: 'failed', ...command })]);
    const merge = { alert_ids: [alert], incident_id: incident, comment: HOSTILE, title: HOSTILE };
    expect((await tenant.merge(handlers.mergeAlerts, merge)).status).toBe(200);
    const encoded = encodeURIComponent(HOSTILE);
    for (const [path, times] of [
      ['', 1],
      [`/${account}/fleet`, 9],
      [`/${account}/host?id=${encoded}`, 5],
      [`/${account}/incidents`, 5],
      [`/${account}/incident/${incident}`, 5],
      [`/${account}/alert/${alert}`, 4],
      [`/${account}/account`, 6],
      [`/${account}/work-items`, 5],
      [`/find?id=${encoded}`, 5],
      [`/${account}/fleet?cluster=${encoded}&version=${encoded}`, 11],
    ] as const)
      expect((await harmless(path)).split(SHOWN).length - 1, path).toBeGreaterThanOrEqual(times);
  });

  it('in an address has no effect; one that is longer than any key is not found, and long text is cut', async () => {
    const tenant = await newAccount(table);
    const at = `/${tenant.account}`;
    const parameters = ['after', 'from', 'cluster', 'version', 'status', 'read'];
    for (const text of ['%3Cscript%3E%00', '%zz', '..%2f..%2faccount', '%E2%80%AE', '__proto__', '%ED%A0%80']) {
      const missing = [`/${text}/fleet`, `${at}/incident/${text}`, `${at}/alert/${text}`, `${at}/${text}`];
      for (const path of [...missing, `${at}/host?id=${text}`]) await harmless(path, 404);
      const query = parameters.map((name) => `${name}=${text}`).join('&');
      for (const path of [
        ...[`${at}/fleet?${query}`, `${at}/incidents?before=${text}&count=${text}`, `${at}/work-items?after=${text}`],
        ...[`${at}/account?audit=${text}`, `${at}/health?check=${text}`, `?after=${text}&${text}=1`],
      ])
        await harmless(path);
    }
    const long = 'x'.repeat(2_000);
    for (const path of [`${at}/incident/${long}`, `${at}/fleet?after=${long}`]) await harmless(path, 404);
    expect(signedIn.failures).toEqual([]);
    await tenant.incident({ title: '🔥'.repeat(100_000) });
    expect((await harmless(`${at}/incidents`)).length).toBeLessThan(30_000);
  });
});

describe('the fleet', () => {
  /** Hosts of two clusters, `bad` and `good`. The first `reporting` hosts report; the first `stale` hosts of `bad` are stale. */
  async function fleetOf(hosts: number, stale: number, reporting = hosts) {
    const fleet = await newFleet(table);
    await putAccount(table, { account_id: fleet.account, name: 'Acme', permissions: ['monit'] });
    const rowsOf = <Row>(count: number, rowOf: (index: number) => Row) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [hostId(index), rowOf(index)]));
    const isBad = (index: number) => index % 2 === 0;
    const cluster = (index: number) => ({ edge_cluster: isBad(index) ? 'bad' : 'good', report_interval_ms: 30_000 });
    await fleet.putHosts(rowsOf(hosts, (index) => inventory(cluster(index))));
    const isStale = (index: number) => isBad(index) && index / 2 < stale;
    await fleet.putLive(rowsOf(reporting, (index) => live(isStale(index) ? { received_at_ms: NOW - 600_000 } : {})));
    return { account: fleet.account, page: (query = '') => show(`/${fleet.account}/fleet${query}`) };
  }
  const stale = [hostId(0), hostId(2), hostId(4)];

  it('names the worst first, and says why a host is stale as `show host` does', async () => {
    const { account, page } = await fleetOf(20, 3);
    const { text: source } = await signedIn.page(`/${account}/fleet`);
    expect(source).toContain(`<title>Fleet – Acme (${account}) – console</title>`);
    const [, why = ''] = (await admin(`show host ${hostId(0)} --account ${account}`)).split('\n');
    expect(why).toBe('The latest snapshot is 10 min old: more than twice the report interval of 30 s.');
    const text = textOf(source);
    for (const shown of [
      '20 hosts 3 stale 17 active',
      'bad 30 % of 10 3 stale good 0 % of 10 ',
      `${hostId(0)} stale snapshot overdue ${why} (rule 7) bad 1.0.0 10 minutes ago ${hostId(2)} stale`,
    ])
      expect(text).toContain(shown);
    expect(text).toMatch(/up to 10 seconds 17 .* up to 1 hour 3 /);
    expect(text).toMatch(/Read [\d.]+ read units, about \$0\.0000\d+ on demand\./);

    const hostsIn = (shown: string) => shown.slice(shown.indexOf(' snapshot ')).match(/host-\d{5}/g) ?? [];
    const filter = '?status=stale&cluster=bad&version=1.0.0';
    const filtered = await page(filter);
    expect(hostsIn(filtered)).toEqual(stale);
    for (const query of ['?status=stale&cluster=good', '?version=1.0.1'])
      expect(hostsIn(await page(query))).toEqual([]);
    expect(hostsIn(await page('?status=&cluster=&version='))).toHaveLength(20);
    // A link that removes a filter.
    const { text: withLinks } = await signedIn.page(`/${account}/fleet${filter}`);
    expect(withLinks).toContain(`href="${account}/fleet?cluster=bad&amp;version=1.0.0#hosts" aria-current="true"`);
    // The same hosts by the commands that it names. `host retire` takes the time from DynamoDB; `host list` has the same filters.
    const [, list = ''] = /admin -- (host list .*?) --table t/.exec(filtered) ?? [];
    const [, retire = ''] = /admin -- (host retire .*?) --dry-run --table t/.exec(filtered) ?? [];
    expect((await admin(list)).match(/^host-\d{5}/gm)).toEqual(stale);
    const inMonth = await run(retire.replace('retire', 'list'), { now: () => NOW + 31 * 86_400_000 });
    expect(inMonth.out.match(/^host-\d{5}/gm)).toHaveLength(10);
  });

  it('has a page for each host', async () => {
    const { account } = await fleetOf(1, 1);
    const host = (id: string) => `/${account}/host?id=${encodeURIComponent(id)}`;
    expect(await show(host(hostId(0)))).toMatch(
      /stale The latest snapshot is 10 min old: .* \(rule 7\) .*enabled yes .*report interval 30 seconds .* received at [\d:]+ UTC 10 minutes ago/,
    );
    await put(table, keys.hostStatus(account, '..'), { ...live(), health_at_ms: 'soon', other: { nested: [1n] } });
    expect(await show(host('..'))).toMatch(
      /host \.\. .* It is not in the inventory.* health at soon .*&quot;nested&quot;:\[1\]/,
    );
    expect(await statusOf(host('gone'))).toBe(404);
  });

  it('reads at most 2,000 hosts unless asked for all, and its links lead to each host once', async () => {
    const { account, page } = await fleetOf(2_130, 3, 20);
    const nextOf = (text: string) =>
      /href="([^"]*)">Next hosts/.exec(text)?.[1]?.replace(/^/, '/').replaceAll('&amp;', '&');
    const first = (await signedIn.page(`/${account}/fleet`)).text;
    expect(textOf(first)).toMatch(/This page covers only the hosts up to host-01999\. .* 2,000 hosts /);
    const seen: string[] = [];
    for (let path: string | undefined = `/${account}/fleet`; path; ) {
      const { text }: { text: string } = await signedIn.page(path.replace('#hosts', ''));
      seen.push(...(textOf(text.slice(text.indexOf('>Hosts<'))).match(/host-\d{5}/g) ?? []));
      path = nextOf(text);
    }
    // The worst come first within each 2,000 hosts.
    expect(seen.slice(0, 3)).toEqual(stale);
    expect(seen.toSorted()).toEqual(Array.from({ length: 2_130 }, (_, index) => hostId(index)));
    // None of the hosts that were read matches: the next page continues after them.
    const { text: none } = await signedIn.page(`/${account}/fleet?status=disabled`);
    expect(nextOf(none)).toBe(`/${account}/fleet?status=disabled&after=${hostId(1_999)}#hosts`);
    expect(await page('?read=all')).toMatch(/^(?!.*This page covers only).*2,130 hosts/);
  });
});

describe('merges', () => {
  async function merged() {
    const tenant = await newAccount(table);
    const { account } = tenant;
    const [first, second] = [await tenant.incident({ title: 'First' }), await tenant.incident({ title: 'Second' })];
    const alerts = await tenant.alerts(3);
    const merge = async (agoMs: number, incident_id: string) => {
      const { mergeAlerts } = handlersOver(testDeps(table, { now: () => NOW - agoMs }));
      const { body } = await tenant.merge(mergeAlerts, { alert_ids: alerts, incident_id, comment: 'same cause' });
      return body.request_id as string;
    };
    const requests = [await merge(3_600_000, first), await merge(60_000, second)];
    return { account, second, alert: alerts[0] ?? '', requests, page: (path: string) => show(`/${account}/${path}`) };
  }

  it('are listed with caller, time, alerts and request id, and the printed command undoes one', async () => {
    const { account, second, alert, requests, page } = await merged();
    const before = await page('incidents');
    const merge = 'Merge into Second [\\d:]+ UTC 1 minute ago 3 alerts from First comment: same cause by key \\w{16} ';
    expect(before).toMatch(new RegExp(`Latest merges ${merge}.*?request ${requests[1]} .*request ${requests[0]} `));
    expect(await page(`incident/${second}`)).toMatch(
      new RegExp(`3 alerts from First comment: same cause .*${requests[1]}`),
    );
    expect(await page(`alert/${alert.toUpperCase()}`)).toMatch(
      new RegExp(`incident Second .*Merge into Second .*${requests[1]}.* Merge into First .*${requests[0]}`),
    );
    const other = keys.alert(account, objectId());
    await put(table, other, { alert_id: other.sk, title: 't' });
    expect(await page(`alert/${other.sk}`)).toContain('No merge mentions this alert.');

    const [, undo = ''] = /npm run --silent admin -- (merge undo \w+ \d+ --account \d+) --table t/.exec(before) ?? [];
    expect(undo).toContain(second);
    expect(await admin(undo)).toMatch(/^3 of 3 alerts moved back/);
    const after = await page('incidents');
    expect(after).toMatch(/Undo of \d+ into Second .* by operator .* Merge into Second undone /);
    expect(after).not.toContain(undo);
  });

  it('are listed with the incidents, their owners and their numbers of alerts', async () => {
    const tenant = await newAccount(table);
    const { account } = tenant;
    const incident = await tenant.incident({ title: 'Owned', owner_id: 7 });
    await tenant.incident({ title: 'Left', owner_id: 8 });
    await put(table, keys.member(account, 7), { member_id: 7, name: 'Ada' });
    const { length } = await tenant.alerts(3, incident);
    const text = await show(`/${account}/incidents`);
    expect(text).toMatch(/incident owner alerts merges .*Owned Ada 3 0/);
    expect(text).toMatch(/Left member 8 0 0/);
    expect(await countAlerts(table, account, length)).toEqual(new Map([[incident, 3]]));
    expect(await countAlerts(table, account, length - 1)).toBeUndefined();
  });

  it('that the page does not read are mentioned', async () => {
    const { account, page } = await merged();
    const later = (_: unknown, index: number) => keys.incident(account, String(index).padStart(24, 'f'));
    await putAll(table, Array.from({ length: 100 }, later));
    expect(await page('incidents')).toMatch(
      /This page covers only the merges into 100 incidents.* The account's last merge, \d+, is in none of them\./,
    );
  });
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
  for (const id of ['kept', 'lost'])
    await put(table, keys.workItem(account, id), { work_item_id: id, title: `${id} title`, version: 1 });
  const call = { appKey, body: { work_item_id: 'lost', version: 1 } };
  const { body } = await callAlone(handlers, deleteWorkItem, call);
  const deletion = `at [\\d:]+ UTC less than a second ago by key \\w{16} .*?request ${body.request_id} `;
  const restore = `restore npm run --silent admin -- work-item restore --account ${account} --table t -- lost `;
  const items = await show(`/${account}/work-items`);
  expect(items).toMatch(new RegExp(`kept kept title 1 lost lost title 2 ${deletion}.*${restore}`));
});

describe('health', () => {
  it("shows pending merges with the command that finishes them; the form of the console's own page checks the account", async () => {
    const tenant = await newAccount(table);
    const { account } = tenant;
    const path = `/${account}/health`;
    const incident = await tenant.incident();
    const alert = objectId();
    const row = { alert_id: alert, title: 't', incident_id: incident, moved_sequence: 5 };
    await put(table, keys.alert(account, alert), row);
    await put(table, keys.mergeOrder(account), { last: 5, last_large: 5, pending: { 5: incident } });
    const form = 'application/x-www-form-urlencoded';
    const post = (body: string, headers: Record<string, string> = {}) =>
      signedIn.page(path, { method: 'POST', headers: { 'content-type': form, ...headers }, body });
    // As an image or a form of another site would send the request.
    expect(await statusOf(`${path}?check=now`)).toBe(200);
    for (const body of ['', 'token=', 'token=wrong', 'token=a&token=b']) expect((await post(body)).status).toBe(403);
    const malformed = await post('malformed', { 'content-type': 'multipart/form-data; boundary=b' });
    expect(malformed.status).toBe(400);
    const { text } = await signedIn.page(path);
    const [token = ''] = /(?<=name="token" value=")[\w-]{43}/.exec(text) ?? [];
    expect((await post(`token=${token}`, { cookie: '' })).status).toBe(401);
    const before = await show(path);
    expect(before).toContain(`npm run --silent admin -- merge finish ${incident} 5 --account ${account} --table t`);
    expect(before).toContain('Not run since');

    const sent = await post(`token=${token}`);
    expect(sent).toMatchObject({ status: 303, headers: { location: `${home}${path}` } });
    const found: { kind: string }[] = JSON.parse(await admin(`check --account ${account} --json`));
    const kinds = found.map(({ kind }) => kind);
    expect(kinds).toContain('alert_entry_missing');
    const after = await show(path);
    for (const shown of [...kinds, /Checked at .*: \d+ findings/]) expect(after).toMatch(shown);
    const other = await newAccount(table);
    expect(await show(`/${other.account}/health`)).toContain('Not run since');
  });

  it.each<[shown: string, deadLetters: () => Promise<number>]>([
    ['3 messages of the merge queue, of all accounts. docs/operate.md says', async () => 3],
    ['0 messages of the merge queue, of all accounts. Check', async () => 0],
    ['They cannot be read: TypeError: why', () => Promise.reject(new TypeError('why'))],
  ])('shows the dead letters of a stack, or why it cannot: %s', async (shown, deadLetters) => {
    const { account } = await newAccount(table);
    const { page } = await serve({ table, deadLetters });
    expect(textOf((await page(`/${account}/health`)).text)).toContain(`Dead letters ${shown}`);
  });

  it('distinguishes a bug of the console from an error of DynamoDB', async () => {
    const { account } = await newAccount(table);
    const wrong = await serve({
      table,
      commandOptions: () => {
        throw new ReferenceError('no\u202e is not defined\nsecond line');
      },
    });
    await put(table, keys.mergeOrder(account), { last: 5, last_large: 5, pending: { 5: objectId() } });
    const { status, text, headers } = await wrong.page(`/${account}/health`);
    expect([status, headers['cache-control']]).toEqual([500, 'no-store']);
    expect(textOf(text)).toMatch(/^(?!.*ReferenceError).*This is a bug in the console:/);
    const failure = /^The console failed: ReferenceError: no\\u202e is not defined\nsecond line\n +at .*console/;
    expect(wrong.failures).toEqual([expect.stringMatching(failure)]);

    const gone = await serve({ table: { ...table, name: 'no-such-table' } });
    const unreadable = expect.stringContaining('ResourceNotFoundException');
    expect(await gone.page('/1/health')).toMatchObject({ status: 502, text: unreadable });
  });
});

describe('the command', async () => {
  const outputs: Record<string, string> = { TableName: table.name, AccountPlanId: 'plan' };
  const aws = await enterFakeAws({ name: 'Service', outputs });
  outputs.DeadLettersUrl = `${aws.url}/1/letters`;
  aws.setQueue({ ApproximateNumberOfMessages: '2', ApproximateNumberOfMessagesNotVisible: '1' });
  const here = ['--table', table.name, '--endpoint', dynamodbEndpoint()];
  it.each([
    [
      'of a table',
      here,
      `table ${table.name} at http`,
      `--table ${table.name} --endpoint ADDRESS-WITH-CREDENTIALS`,
      'Unknown',
    ],
    ['of a stack', ['--stack', 'Service'], 'stack Service, ', '--stack Service', '3 messages of the merge queue'],
  ])('prints an address that works until it is stopped: %s', async (_what, args, target, options, deadLetters) => {
    const { account } = await newAccount(table);
    const stop = new AbortController();
    const printed = Promise.withResolvers<string>();
    const io = { env: { AWS_REGION: 'eu-west-1' }, signal: stop.signal, onOut: printed.resolve };
    const running = runCommand(['console', ...args], io);
    const address = (await Promise.race([printed.promise, running.then(({ err }) => err)])).trim();
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console\/[\w-]{43}\/\?token=[\w-]{43}$/);
    const entered = await fetch(address, { redirect: 'manual' });
    const cookie = String(entered.headers.get('set-cookie')).split(';')[0] ?? '';
    const browse = async (page: string) =>
      textOf(await (await fetch(new URL(`${account}/${page}`, address), { headers: { cookie } })).text());
    const fleet = await browse('fleet');
    for (const shown of [target, `--account=${account} ${options}`]) expect(fleet).toContain(shown);
    expect(fleet).not.toContain(new URL(dynamodbEndpoint()).username);
    expect(await browse('health')).toContain(`Dead letters ${deadLetters}`);
    stop.abort();
    expect((await running).exitCode).toBe(0);
    await expect(fetch(address)).rejects.toThrow();
  });

  it('says that a port is taken', async () => {
    const err = `Cannot listen on port ${port} (EADDRINUSE): choose another --port.\n`;
    expect(await run(`console --port ${port}`)).toEqual({ exitCode: 1, out: '', err });
  });
});
