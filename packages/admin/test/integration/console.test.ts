import { afterAll, describe, expect, it } from 'vitest';
import { createRateLimiter } from '../../../../lib/http/rate-limit.ts';
import { browseFleet } from '../../../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../../../lib/operations/delete-work-item/schema.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { expectEnvelope } from '../../../../test/support/answers.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { hostId, inventory, live, newFleet } from '../../../../test/support/fleet.ts';
import { newAccount, objectId } from '../../../../test/support/incidents.ts';
import { callOperation, handlersOver, NOW, newTable, put, putAll, testDeps } from '../../../../test/support/service.ts';
import { putAccount } from '../../accounts/accounts.ts';
import { auditRow } from '../../accounts/audit-rows.ts';
import { countAlerts } from '../../incidents/list.ts';
import { startFakeAws } from '../support/aws.ts';
import { serveConsole, textOf } from '../support/console-pages.ts';
import { adminOf, runCommand } from '../support/run-admin.ts';

const table = await newTable();
/** A console with which the test is signed in. */
const signedIn = await serveConsole({ table, now: () => NOW });
await signedIn.signIn();
afterAll(() => signedIn.close());

const admin = adminOf(table);
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
/** What a page shows, in one line. */
const show = async (path: string) => textOf((await signedIn.page(path)).text);
const statusOf = async (path: string, options = {}) => (await signedIn.page(path, options)).status;
/** Presses the button of the page that checks an account. */
async function runCheck(account: number, headers: Record<string, string> = {}) {
  const path = `/${account}/health`;
  const [, token] = /name="token" value="([\w-]{43})"/.exec((await signedIn.page(path)).text) ?? [];
  return signedIn.page(path, { method: 'POST', headers: { ...FORM, ...headers }, body: `token=${token}` });
}

describe('who is let in', () => {
  it('only the browser that first opens the printed address, by its cookie', async () => {
    const console = await serveConsole({ table });
    expect((await console.ask('/console')).status).toBe(401);
    const { status, headers } = await console.signIn();
    const { home } = console;
    expect(home).toMatch(/^\/console\/[\w-]{43}$/);
    expect([status, headers.location, headers['cache-control']]).toEqual([302, `${home}/`, 'no-store']);
    // Browsers send a cookie to every port of a host, but only to its path.
    const cookie = `^console=[\\w-]{43}; Path=${home}/; HttpOnly; SameSite=Strict$`;
    expect(String(headers['set-cookie'])).toMatch(new RegExp(cookie));
    // What the links of a page lead to.
    const text = expect.stringContaining(`<base href="${home}/">`);
    for (const path of ['', '/', '/feed']) expect(await console.page(path)).toMatchObject({ status: 200, text });
    expect((await console.ask(console.signInPath)).status).toBe(401);
    // A browser that is already in is redirected.
    const again = await console.page(console.signInPath.replace(home, ''));
    expect([again.status, again.headers.location]).toEqual([302, `${home}/`]);
    await console.close();
  });

  it.each(['', '/feed', '/1/fleet', '/1/account', '/1/health', '/x'])(
    'nobody without the secret path and the cookie: %s',
    async (path) => {
      const wrong = { cookie: `console=${'A'.repeat(43)}` };
      for (const home of ['/console', signedIn.home])
        for (const headers of [{}, wrong]) {
          const { status, text } = await signedIn.ask(`${home}${path}`, { headers });
          const tells = [text.includes('<table'), text.includes(signedIn.home)];
          expect([status, ...tells]).toEqual([401, false, home === signedIn.home]);
          expect((await signedIn.ask(`${home}${path}?token=wrong`)).status).toBe(401);
        }
    },
  );

  it('nobody who uses another host name', async () => {
    const { port } = signedIn;
    const ownHost = `127.0.0.1:${port}`;
    for (const host of ['evil.example', `evil.example:${port}`, `${ownHost}.evil.example`])
      expect([403, 400]).toContain(await statusOf('', { headers: { host } }));
    for (const host of [ownHost, `localhost:${port}`])
      expect([host, await statusOf('', { headers: { host } })]).toEqual([host, 200]);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'])('no method but GET: not %s', async (method) => {
    const { status, headers } = await signedIn.page('', { method, headers: { origin: 'https://evil.example' } });
    expect([status, headers.allow, headers['access-control-allow-origin']]).toEqual([405, 'GET', undefined]);
  });

  it.each(['//elsewhere/console/x', '///elsewhere', '/other'])(
    'a page at an address outside of the console: it leads to no other site: %s',
    async (path) => {
      const { status, text, headers } = await signedIn.ask(path);
      expect([status, /<a class="skip" href="(.*?)#/.exec(text)?.[1]]).toEqual([404, path.replace(/^\/+/, '/')]);
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect((await signedIn.ask(path, { headers: { host: 'evil.example' } })).status).toBe(403);
    },
  );

  it("nobody can start a check but by the form on the console's own page", async () => {
    const { account } = await newAccount(table);
    const path = `/${account}/health`;
    // As an image or a form of another site would send the request.
    expect(await statusOf(`${path}?check=now`)).toBe(200);
    for (const body of ['', 'token=', 'token=wrong', 'token=a&token=b'])
      expect(await statusOf(path, { method: 'POST', headers: FORM, body })).toBe(403);
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    expect(await statusOf(path, { method: 'POST', headers, body: 'malformed' })).toBe(400);
    expect((await runCheck(account, { cookie: '' })).status).toBe(401);
    expect(await show(path)).toContain('Not run since');
    expect(await runCheck(account)).toMatchObject({ status: 303, headers: { location: `${signedIn.home}${path}` } });
    expect(await show(path)).toContain('Checked at ');
  });

  it('no other site and no foreign script, by the headers of every answer', async () => {
    const headers = { origin: 'https://evil.example' };
    const { ask, page } = signedIn;
    const pages = [await page('', { headers }), await page('/nowhere'), await page('/0/fleet'), await ask('/console')];
    for (const { headers } of [...pages, await ask('/console/console.css'), await page('', { method: 'POST' })]) {
      expect(headers).toMatchObject({
        'content-security-policy':
          "default-src 'none'; style-src 'self'; script-src 'self'; require-trusted-types-for 'script'; img-src data:; form-action 'self'; base-uri 'self'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      });
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
    for (const { headers } of pages) expect(headers['cache-control']).toBe('no-store');
  });
});

const HOSTILE = '<script>alert(1)</script>\u202e"\'&\u0007\u2066';
const SHOWN = '&lt;script&gt;alert(1)&lt;/script&gt;\\u202e&quot;&#39;&amp;\\u0007\\u2066';

/** The only script of a page. */
const OWN_SCRIPT = '<script type="module" src="/console/console.js"></script>';
/** Expects that a page has no script of others, and no characters that reorder or hide text. */
function expectHarmless(page: string, path: string) {
  for (const harm of ['<script', '\0', '\u0007', '\u202e', '\u2066'])
    expect(page.replace(OWN_SCRIPT, '').includes(harm), path).toBe(false);
}

describe('text that others have written', () => {
  it('has no effect on any page', async () => {
    const tenant = await newAccount(table);
    const { account } = tenant;
    await putAccount(table, { account_id: account, name: HOSTILE, permissions: [HOSTILE] });
    const incident = await tenant.incident({ title: HOSTILE, owner_id: 7 });
    await put(table, keys.member(account, 7), { member_id: 7, name: HOSTILE });
    const [alert = ''] = await tenant.alerts(1);
    await put(table, keys.alert(account, alert), { alert_id: alert, title: HOSTILE });
    const { mergeAlerts } = handlersOver(testDeps(table, { now: () => NOW }));
    const merge = { alert_ids: [alert], incident_id: incident, comment: HOSTILE, title: HOSTILE };
    expectEnvelope(await tenant.merge(mergeAlerts, merge), 200);
    await put(table, keys.host(account, HOSTILE), inventory({ agent_version: HOSTILE, edge_cluster: HOSTILE }));
    const item = { work_item_id: HOSTILE, title: HOSTILE, version: 1, deleted_at_ms: NOW, deleted_by: HOSTILE };
    await put(table, keys.workItem(account, HOSTILE), item);
    const command = { by: HOSTILE, command: HOSTILE, target: HOSTILE, detail: HOSTILE };
    await putAll(table, [auditRow(account, { id: 'a', at_ms: NOW, result: 'failed', ...command })]);
    await put(table, keys.rumResource(account), { version: HOSTILE, status: HOSTILE });
    for (const [path, times] of [
      ['', 1],
      [`/${account}/fleet`, 9],
      [`/${account}/host?id=${encodeURIComponent(HOSTILE)}`, 5],
      [`/${account}/incidents`, 5],
      [`/${account}/incident/${incident}`, 5],
      [`/${account}/alert/${alert}`, 4],
      [`/${account}/account`, 6],
      [`/${account}/work-items`, 5],
      [`/find?id=${encodeURIComponent(HOSTILE)}`, 5],
      [`/${account}/fleet?cluster=${encodeURIComponent(HOSTILE)}&version=${encodeURIComponent(HOSTILE)}`, 11],
    ] as const) {
      const { status, text } = await signedIn.page(path);
      expect([path, status]).toEqual([path, 200]);
      expectHarmless(text, path);
      expect(text.split(SHOWN).length - 1, path).toBeGreaterThanOrEqual(times);
    }
  });

  it('in an address has no effect', async () => {
    const { account } = await newAccount(table);
    const odd = ['%3Cscript%3E%00', '%zz', '..%2f..%2faccount', '%E2%80%AE', '__proto__', '%ED%A0%80'];
    const parameters = ['after', 'from', 'cluster', 'version', 'status', 'read'];
    for (const text of odd)
      for (const [path, expected] of [
        [`/${text}/fleet`, 404],
        [`/${account}/incident/${text}`, 404],
        [`/${account}/alert/${text}`, 404],
        [`/${account}/${text}`, 404],
        [`/${account}/fleet?${parameters.map((name) => `${name}=${text}`).join('&')}`, 200],
        [`/${account}/host?id=${text}`, 404],
        [`/${account}/incidents?before=${text}&count=${text}`, 200],
        [`/${account}/work-items?after=${text}`, 200],
        [`/${account}/account?audit=${text}`, 200],
        [`/${account}/health?check=${text}`, 200],
        [`?after=${text}&${text}=1`, 200],
      ] as const) {
        const { status, text: shown } = await signedIn.page(path);
        expect([path, status]).toEqual([path, expected]);
        expectHarmless(shown, path);
      }
    expect(signedIn.failures).toEqual([]);
  });

  it('is not found if it is longer than any key', async () => {
    const { account } = await newAccount(table);
    const long = 'x'.repeat(2_000);
    for (const path of [`/${account}/incident/${long}`, `/${account}/fleet?after=${long}`])
      expect(await statusOf(path)).toBe(404);
  });

  it('is cut if it is long', async () => {
    const { account } = await newAccount(table);
    await put(table, keys.incident(account, objectId()), { title: '🔥'.repeat(100_000) });
    expect((await signedIn.page(`/${account}/incidents`)).text.length).toBeLessThan(30_000);
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

  it('names the worst first, and says why a host is stale as `show host` does', async () => {
    const { account, page } = await fleetOf(20, 3);
    const { text: source } = await signedIn.page(`/${account}/fleet`);
    expect(source).toContain(`<title>Fleet – Acme (${account}) – console</title>`);
    const text = textOf(source);
    expect(text).toMatch(/20 hosts 3 stale 17 active/);
    expect(text).toMatch(/bad 30 % of 10 3 stale good 0 % of 10 /);
    expect(text).toMatch(/up to 10 seconds 17 .* up to 1 hour 3 /);
    const { out } = await admin(`show host ${hostId(0)} --account ${account}`, { now: () => NOW });
    const [, why = ''] = out.split('\n');
    expect(why).toBe('The latest snapshot is 10 min old: more than twice the report interval of 30 s.');
    expect(text).toContain(
      `${hostId(0)} stale snapshot overdue ${why} (rule 7) bad 1.0.0 10 minutes ago ${hostId(2)} stale`,
    );
    expect(text).toMatch(/Read [\d.]+ read units, about \$0\.0000\d+ on demand\./);
    // The same hosts by the commands that it names.
    const filtered = await page('?status=stale&cluster=bad&version=1.0.0');
    const hostsOf = async (command: RegExp, nowMs: number) => {
      const [, words = ''] = command.exec(filtered) ?? [];
      return (await admin(words, { now: () => nowMs })).out.match(/^host-\d{5}/gm);
    };
    const stale = [hostId(0), hostId(2), hostId(4)];
    expect(await hostsOf(/admin -- (host list .*?) --table t/, NOW)).toEqual(stale);
    const hostsIn = (shown: string) => shown.slice(shown.indexOf(' snapshot ')).match(/host-\d{5}/g) ?? [];
    expect(hostsIn(filtered)).toEqual(stale);
    for (const query of ['?status=stale&cluster=good', '?version=1.0.1'])
      expect(hostsIn(await page(query))).toEqual([]);
    expect(hostsIn(await page('?status=&cluster=&version='))).toHaveLength(20);
    const inMonth = NOW + 31 * 86_400_000;
    expect(await hostsOf(/admin -- (host retire .*?--dry-run) --table t/, inMonth)).toHaveLength(10);
  });

  it('has a page for each host', async () => {
    const { account } = await fleetOf(1, 1);
    const host = (id: string) => `/${account}/host?id=${encodeURIComponent(id)}`;
    const text = await show(host(hostId(0)));
    expect(text).toMatch(/stale The latest snapshot is 10 min old: .* \(rule 7\)/);
    expect(text).toMatch(/report interval 30 seconds .* received at [\d:]+ UTC 10 minutes ago/);
    await put(table, keys.hostStatus(account, '..'), { ...live(), health_at_ms: 'soon', other: { nested: [1n] } });
    expect(await show(host('..'))).toMatch(
      /host \.\. .* It is not in the inventory.* health at soon .*&quot;nested&quot;:\[1\]/,
    );
    expect(await statusOf(host('gone'))).toBe(404);
  });

  it('reads at most 2,000 hosts unless asked for all, and its links lead to each host once', async () => {
    const { account } = await fleetOf(2_130, 3, 20);
    const nextOf = (text: string) =>
      /href="([^"]*)">Next hosts/.exec(text)?.[1]?.replace(/^/, '/').replaceAll('&amp;', '&');
    const { text: first } = await signedIn.page(`/${account}/fleet`);
    expect(textOf(first)).toMatch(/This page covers only the hosts up to host-01999\. .* 2,000 hosts /);
    expect(nextOf(first)).toBe(`/${account}/fleet?from=50#hosts`);
    const seen: string[] = [];
    for (let path = nextOf(first)?.replace('from=50', 'from=0'); path; ) {
      const { text }: { text: string } = await signedIn.page(path.replace('#hosts', ''));
      const listed = textOf(text.slice(text.indexOf('>Hosts<'))).match(/host-\d{5}/g) ?? [];
      // The worst come first within each 2,000 hosts.
      if (seen.length === 0) expect(listed.slice(0, 3)).toEqual([hostId(0), hostId(2), hostId(4)]);
      seen.push(...listed);
      path = nextOf(text);
    }
    expect(seen.toSorted()).toEqual(Array.from({ length: 2_130 }, (_, index) => hostId(index)));
    // None of the hosts that were read matches: the next page continues after them.
    const { text: none } = await signedIn.page(`/${account}/fleet?status=disabled`);
    expect(nextOf(none)).toBe(`/${account}/fleet?status=disabled&after=${hostId(1_999)}#hosts`);
    const whole = await show(`/${account}/fleet?read=all`);
    expect(whole).toContain('2,130 hosts');
    expect(whole).not.toContain('This page covers only');
  });
});

describe('merges', () => {
  async function merged() {
    const tenant = await newAccount(table);
    const [first, second] = [await tenant.incident({ title: 'First' }), await tenant.incident({ title: 'Second' })];
    const alerts = await tenant.alerts(3);
    const requests: string[] = [];
    for (const [nowMs, incident_id] of [
      [NOW - 3_600_000, first],
      [NOW - 60_000, second],
    ] as const) {
      const { mergeAlerts } = handlersOver(testDeps(table, { now: () => nowMs }));
      const { body } = await tenant.merge(mergeAlerts, { alert_ids: alerts, incident_id, comment: 'same cause' });
      requests.push(body.request_id as string);
    }
    return { ...tenant, first, second, alert: alerts[0] ?? '', requests };
  }

  it('are listed with caller, time, alerts and request id, and the printed command undoes one', async () => {
    const { account, second, requests } = await merged();
    const before = await show(`/${account}/incidents`);
    const merge = 'Merge into Second [\\d:]+ UTC 1 minute ago 3 alerts from First comment: same cause by key \\w{16} ';
    expect(before).toMatch(new RegExp(`Latest merges ${merge}.*?request ${requests[1]} `));
    expect(before.indexOf(requests[1] ?? '')).toBeLessThan(before.indexOf(requests[0] ?? ''));
    const [, undo = ''] = /npm run --silent admin -- (merge undo \w+ \d+ --account \d+) --table t/.exec(before) ?? [];
    expect(undo).toContain(second);
    expect((await admin(undo)).out).toMatch(/^3 of 3 alerts moved back/);
    const after = await show(`/${account}/incidents`);
    expect(after).toMatch(/Undo of \d+ into Second .* Merge into Second undone /);
    expect(after).not.toContain(undo);
  });

  it('are listed on the page of an incident, and on the page of an alert', async () => {
    const { account, second, alert, requests } = await merged();
    const timeline = await show(`/${account}/incident/${second}`);
    expect(timeline).toMatch(new RegExp(`3 alerts from First comment: same cause .*${requests[1]}`));
    const history = await show(`/${account}/alert/${alert.toUpperCase()}`);
    expect(history).toMatch(/incident Second /);
    expect(history).toMatch(new RegExp(`Merge into Second .*${requests[1]}.* Merge into First .*${requests[0]}`));
  });

  it('are listed with the incidents, their owners and their numbers of alerts', async () => {
    const tenant = await newAccount(table);
    const { account } = tenant;
    const incident = await tenant.incident({ title: 'Owned', owner_id: 7 });
    await tenant.incident({ title: 'Left', owner_id: 8 });
    await put(table, keys.member(account, 7), { member_id: 7, name: 'Ada' });
    const alerts = await tenant.alerts(3, incident);
    const text = await show(`/${account}/incidents`);
    expect(text).toMatch(/incident owner alerts merges .*Owned Ada 3 0/);
    expect(text).toMatch(/Left member 8 0 0/);
    expect(await countAlerts(table, account, alerts.length)).toEqual(new Map([[incident, 3]]));
    expect(await countAlerts(table, account, alerts.length - 1)).toBeUndefined();
  });

  it('that the page does not read are mentioned', async () => {
    const { account } = await merged();
    const later = (_: unknown, index: number) => keys.incident(account, String(index).padStart(24, 'f'));
    await putAll(table, Array.from({ length: 100 }, later));
    expect(await show(`/${account}/incidents`)).toMatch(
      /This page covers only the merges into 100 incidents.* The account's last merge, \d+, is in none of them\./,
    );
  });
});

describe('an account', () => {
  it('shows its keys but not their text, its rate windows without counting a call, and its quotas', async () => {
    const { account } = await newAccount(table);
    const appKey = (await admin(`app-key issue --account ${account} --note pipeline`)).out.trim();
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

  it.each(['/999999999/fleet', '/0/fleet', '/-1/fleet', '/x/account', '/99999999999999999999/health', '/1'])(
    'is not found if it does not exist: %s',
    async (path) => expect(await statusOf(path)).toBe(404),
  );
});

describe('work items', () => {
  it('show who deleted them, by which call, and the command that restores them', async () => {
    const tenant = await newAccount(table);
    const { account } = tenant;
    for (const id of ['kept', 'lost'])
      await put(table, keys.workItem(account, id), { work_item_id: id, title: `${id} title`, version: 1 });
    const handlers = handlersOver(testDeps(table, { now: () => NOW }));
    const call = { appKey: tenant.appKey, body: { work_item_id: 'lost', version: 1 } };
    const { body } = await callOperation(handlers, deleteWorkItem, call);
    const deletion = `at [\\d:]+ UTC less than a second ago by key \\w{16} .*?request ${body.request_id} `;
    const restore = `restore npm run --silent admin -- work-item restore --account ${account} --table t -- lost `;
    const items = await show(`/${account}/work-items`);
    expect(items).toMatch(new RegExp(`kept kept title 1 lost lost title 2 ${deletion}.*${restore}`));
  });
});

describe('health', () => {
  it('shows pending merges with the command that finishes them, and what a check finds', async () => {
    const tenant = await newAccount(table);
    const { account } = tenant;
    const incident = await tenant.incident();
    const [alert = ''] = await tenant.alerts(1);
    const row = { alert_id: alert, title: 't', incident_id: incident, moved_sequence: 5 };
    await put(table, keys.alert(account, alert), row);
    await put(table, keys.mergeOrder(account), { last: 5, last_large: 5, pending: { 5: incident } });
    const text = await show(`/${account}/health`);
    expect(text).toContain(`npm run --silent admin -- merge finish ${incident} 5 --account ${account} --table t`);
    expect(text).not.toContain('alert_entry_missing');
    await runCheck(account);
    const checked = await show(`/${account}/health`);
    const { out } = await admin(`check --account ${account} --json`, { now: () => NOW });
    const kinds = (JSON.parse(out) as { kind: string }[]).map(({ kind }) => kind);
    expect(kinds).toContain('alert_entry_missing');
    for (const shown of [...kinds, 'Checked at ']) expect(checked).toContain(shown);
    const other = await newAccount(table);
    expect(await show(`/${other.account}/health`)).toContain('Not run since');
  });

  it('distinguishes a bug of the console from an error of DynamoDB', async () => {
    const { account } = await newAccount(table);
    const wrong = await serveConsole({
      table,
      commandOptions: () => {
        throw new ReferenceError('no\u202e is not defined\nsecond line');
      },
    });
    await wrong.signIn();
    await put(table, keys.mergeOrder(account), { last: 5, last_large: 5, pending: { 5: objectId() } });
    const { status, text, headers } = await wrong.page(`/${account}/health`);
    expect([status, headers['cache-control']]).toEqual([500, 'no-store']);
    expect(textOf(text)).toContain('This is a bug in the console:');
    expect(text).not.toContain('ReferenceError');
    expect(wrong.failures).toEqual([
      expect.stringMatching(
        /^The console failed: ReferenceError: no\\u202e is not defined\nsecond line\n +at .*console/,
      ),
    ]);
    await wrong.close();
  });

  it('says that a server does not answer', async () => {
    const gone = await serveConsole({ table: { ...table, name: 'no-such-table' } });
    await gone.signIn();
    expect(await gone.page('/1/health')).toMatchObject({
      status: 502,
      text: expect.stringContaining('ResourceNotFoundException'),
    });
    await gone.close();
  });
});

/** Opens the address that a console has printed, and a page of it, as a browser does. */
async function browse(address: string, path: string) {
  const entered = await fetch(address, { redirect: 'manual' });
  const cookie = String(entered.headers.get('set-cookie')).split(';')[0] ?? '';
  return textOf(await (await fetch(new URL(path, address), { headers: { cookie } })).text());
}

describe('admin console', () => {
  it('prints an address that works until it is stopped', async () => {
    const { account } = await newAccount(table);
    const stop = new AbortController();
    const printed = Promise.withResolvers<string>();
    const running = admin('console', { signal: stop.signal, onOut: printed.resolve });
    const text = await printed.promise;
    expect(text).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console\/[\w-]{43}\/\?token=[\w-]{43}\n$/);
    const fleet = await browse(text.trim(), `${account}/fleet`);
    expect(fleet).toContain(`table ${table.name} at http`);
    expect(fleet).toContain(`--table ${table.name} --endpoint ADDRESS-WITH-CREDENTIALS`);
    expect(fleet).not.toContain(new URL(dynamodbEndpoint()).username);
    stop.abort();
    expect((await running).exitCode).toBe(0);
    await expect(fetch(text.trim())).rejects.toThrow();
  });

  it('reads the dead letters of a stack on AWS, and says why it cannot', async () => {
    const { account } = await newAccount(table);
    const outputs: Record<string, string> = { TableName: table.name, AccountPlanId: 'plan' };
    const aws = await startFakeAws({ name: 'Service', outputs });
    const leave = aws.enter();
    const stop = new AbortController();
    const letters = async () => {
      const printed = Promise.withResolvers<string>();
      const options = { env: { AWS_REGION: 'eu-west-1' }, signal: stop.signal, onOut: printed.resolve };
      const running = runCommand(['console', '--stack', 'Service'], options);
      const address = await Promise.race([printed.promise, running.then(({ err }) => err)]);
      return /Dead letters (.*?) Check /.exec(await browse(address.trim(), `${account}/health`))?.[1]?.trim();
    };
    expect(await letters()).toMatch(/^Unknown/);
    outputs.DeadLettersUrl = `${aws.url}/123456789012/dead-letters`;
    aws.setQueue({ ApproximateNumberOfMessages: '2', ApproximateNumberOfMessagesNotVisible: '1' });
    expect(await letters()).toMatch(/^3 messages of the merge queue, of all accounts\. docs\/operate\.md says/);
    aws.setQueue('AccessDenied');
    expect(await letters()).toBe('They cannot be read: AccessDenied: You may not.');
    stop.abort();
    leave();
    aws.close();
  });

  it('says that a port is taken', async () => {
    const err = `Cannot listen on port ${signedIn.port} (EADDRINUSE): choose another --port.\n`;
    expect(await admin(`console --port ${signedIn.port}`)).toEqual({ exitCode: 1, out: '', err });
  });
});
