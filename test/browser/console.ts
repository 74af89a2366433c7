/** The operator's console: it answers an operator's questions, on a sample, a large fleet and hostile data. */
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { connectTable, PATIENT, type Table } from '../../lib/dynamodb/client.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import { forEach } from '../../lib/dynamodb/pool.ts';
import { loadData } from '../../packages/admin/data/load.ts';
import { writeBatch } from '../../packages/admin/data/write.ts';
import { createTable } from '../../packages/admin/local-service/local-table.ts';
import { listRunning } from '../../packages/admin/local-service/running.ts';
import { serveConsole } from '../../packages/admin/test/support/console-pages.ts';
import { expectAccessible, openPage, overhang, type Surroundings } from './surroundings.ts';

const shell = promisify(execFile);
const LARGE = { account: 3, hosts: 50_000, reporting: 2_500 };
const HOSTILE = 4;
const PHONE = { viewport: { width: 390, height: 800 }, isMobile: true } as const;

export async function testConsole(surroundings: Surroundings): Promise<void> {
  const { url, printed } = surroundings;
  const service = listRunning().find((running) => running.url === url);
  assert.ok(service);
  const table = connectTable({ name: service.tableName, endpoint: service.endpoint, ...PATIENT });
  const large = { ...table, name: 'large-fleet' };
  const filling = fillLarge(large, service.endpoint);
  const visitor = await openPage(surroundings, { viewport: { width: 1280, height: 1000 } });
  const { page } = visitor;

  await page.goto(/^Console {4}(\S+)$/m.exec(printed)?.[1] ?? '');
  const home = page.url().replace(/\/$/, '');
  assert.match(home, new RegExp(`^${url}/console/[\\w-]{43}$`));
  await follow(page, page.getByRole('region', { name: 'All accounts' }).getByRole('link', { name: '1', exact: true }));
  await answersTheFleet(page, surroundings);
  const incident = await answersTheMerge(page, surroundings);

  const alert = (await page.locator('a[href*="/alert/"]').first().getAttribute('href')) ?? '';
  const pages = ['/', '/1/fleet', '/1/merges', `/1/incident/${incident}`, `/${alert}`, '/1/account', '/1/health'];
  const cookies = await visitor.context.cookies();
  const dark = await openPage(surroundings, { ...PHONE, colorScheme: 'dark' });
  await dark.context.addCookies(cookies);
  for (const path of pages) {
    await page.goto(`${home}${path}`);
    await expectAccessible(page);
    await dark.page.goto(`${home}${path}`);
    await expectAccessible(dark.page);
    assert.ok((await overhang(dark.page)) <= 0, `${path} is too wide for a phone`);
    if (path === '/1/fleet') await surroundings.picture(dark.page, 'console-phone');
  }
  await page.goto(`${home}/1/health`);
  await page.getByRole('button', { name: 'Check now' }).click();
  await page
    .getByText(/Checked at /)
    .first()
    .waitFor();
  await expectAccessible(page);
  await worksByKeyboard(page, home);

  await fillHostile(table, url);
  const hostile = [
    '/4/fleet',
    '/4/merges',
    `/4/incident/${'b'.repeat(24)}`,
    `/4/alert/${'c'.repeat(24)}`,
    '/4/account',
  ];
  for (const path of hostile) {
    await dark.page.goto(`${home}${path}`);
    const text = await dark.page.innerText('body');
    assert.ok(text.includes('<script>alert(1)</script>\\u202e'), `${path} shows the text as it is`);
    assert.ok(!/[\u202e\u2066]/.test(await dark.page.content()), `${path} escapes what reorders text`);
    assert.equal(await dark.page.locator('script, b.injected').count(), 0);
    await expectAccessible(dark.page);
    assert.ok((await overhang(dark.page)) <= 0, `${path} is too wide for a phone`);
  }
  assert.ok((await dark.page.innerText('body')).includes('🔥'.repeat(1_024)));

  await filling;
  await answersTheLargeFleet(large, surroundings);
  assert.deepEqual([...visitor.problems, ...dark.problems], []);
  table.client.destroy();
  process.stdout.write(
    'ok the console answers an operator, on a phone, in the dark, by keyboard, and asks nobody else\n',
  );
}

/** Clicks a link and waits until its page is there as a whole. */
async function follow(page: Page, link: Locator): Promise<void> {
  const address = String(await link.evaluate((element) => (element as unknown as { href: string }).href));
  await link.click();
  await page.waitForURL(address);
}

/** Which cluster is worst, and why is one of its hosts stale? */
async function answersTheFleet(page: Page, surroundings: Surroundings): Promise<void> {
  const clusters = page.getByRole('region', { name: 'Status by edge cluster' });
  const shares = (await clusters.locator('tbody tr').allInnerTexts()).map((row) => Number(/(\d+) %/.exec(row)?.[1]));
  assert.deepEqual(
    shares,
    shares.toSorted((one, other) => other - one),
  );
  const worst = clusters.locator('tbody tr').first();
  assert.match(await worst.innerText(), /^fra-2\s+40 % \(40 of 100\)/);
  await follow(page, worst.getByRole('link', { name: /stale/ }));
  await surroundings.picture(page, 'console-fleet');
  const hosts = page.getByRole('region', { name: 'Hosts' });
  await page.evaluate('document.querySelector("form").scrollIntoView()');
  await surroundings.picture(page, 'console-hosts');
  const rows = await hosts.locator('tbody tr').allInnerTexts();
  assert.equal(rows.length, 26);
  for (const row of rows)
    assert.match(
      row,
      /^fra-2-\S+\s+stale\s+The latest snapshot is \d+ s old: more than twice the report interval of 30 s\. \(rule 7\)\s+fra-2/,
    );
}

/** On a busy machine DynamoDB Local may be slower than a call waits. */
async function untilAnswered<Answer extends { error?: { code: string } }>(
  call: () => Promise<Answer>,
): Promise<Answer> {
  const answer = await call();
  return answer.error?.code === 'ServiceUnavailable' ? untilAnswered(call) : answer;
}

/** What was merged last, and how is it undone? @returns the incident */
async function answersTheMerge(page: Page, surroundings: Surroundings): Promise<string> {
  const calls = surroundings.printed
    .split('\n')
    .filter((line) => line.startsWith('curl ') && line.includes('/alert/merge'));
  const { request_id: requestId } = await untilAnswered(async () => {
    const { stdout } = await shell('bash', ['-c', calls[0] ?? '']);
    return JSON.parse(stdout) as { request_id: string; error?: { code: string } };
  });
  await follow(page, page.getByRole('link', { name: 'Incidents and merges' }));
  const last = page.getByRole('region', { name: 'Latest merges' }).locator('tbody tr').first();
  const text = await last.innerText();
  assert.match(
    text,
    /\(.+ ago\)\s+Checkout latency above 2 s in eu-central\s+merge, done\s+2 moved, 0 already there\s+key 761bd8953979144b \(…y-00\)/,
  );
  assert.ok(text.includes(requestId));
  await surroundings.picture(page, 'console-merges');
  const undo = await last.locator('code').innerText();
  const undone = await shell('bash', ['-c', undo]);
  assert.match(undone.stdout, /^2 of 2 alerts moved back\. Feed entry \d+\.\n$/);
  await page.reload();
  assert.match(await last.innerText(), /undo of \d+, done\s+2 moved.*operator local user/s);
  await follow(page, last.getByRole('link').first());
  assert.match(await page.innerText('ol'), /merge, done, undone since.*nothing to undo/s);
  await page.click('summary >> nth=0');
  return page.url().split('/').at(-1) ?? '';
}

async function worksByKeyboard(page: Page, home: string): Promise<void> {
  await page.goto(`${home}/1/fleet`);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate('document.activeElement.closest("main") !== null'), true);
}

/** 50,000 hosts are looked at without reading them all. */
async function answersTheLargeFleet(table: Table, { browser }: Surroundings): Promise<void> {
  const console = await serveConsole({ table });
  const url = `http://127.0.0.1:${console.port}`;
  const { page, problems } = await openPage({ url, browser });
  await page.goto(`${url}${console.entrance}`);
  await follow(
    page,
    page.getByRole('region', { name: 'All accounts' }).getByRole('link', { name: String(LARGE.account), exact: true }),
  );
  const [, units = ''] =
    /Read 2,000 hosts of more, up to h-01999: ([\d.]+) read units/.exec(await page.innerText('main')) ?? [];
  assert.ok(Number(units) > 0 && Number(units) < 100, `${units} read units`);
  await follow(page, page.getByRole('link', { name: 'Next hosts' }));
  assert.match(await page.innerText('main'), /of more, after h-00049 up to h-02049/);
  await expectAccessible(page);
  for (const path of ['merges', 'account', 'health']) {
    await page.goto(`${url}${console.home}/${LARGE.account}/${path}`);
    await expectAccessible(page);
  }
  await page.goto(`${url}${console.home}/${LARGE.account}/fleet`);
  await follow(page, page.getByRole('link', { name: 'Read the whole fleet' }));
  assert.match(await page.innerText('main'), /Read all 50,000 hosts: [\d,.]+ read units/);
  assert.deepEqual([...problems, ...console.failures], []);
  await console.close();
}

/** In a table without a stream, which DynamoDB Local writes to several times as fast. */
async function fillLarge(table: Table, endpoint: string): Promise<void> {
  await createTable(endpoint, table.name, { stream: false });
  await loadLines(table, [{ kind: 'account', account_id: LARGE.account, name: 'Large', permissions: ['monit'] }]);
  const rows = Array.from({ length: LARGE.hosts }, (_, index) => ({
    ...keys.host(LARGE.account, `h-${String(index).padStart(5, '0')}`),
    ...{ agent_version: '1', edge_cluster: `c-${index % 20}`, enabled: true, snapshot_ready: true },
  }));
  const report = { node_count: 1, edge_count: 1, authoritative: true, graph_available: true };
  const live = rows.slice(0, LARGE.reporting).map(({ sk }) => ({
    ...keys.hostStatus(LARGE.account, sk),
    ...{ received_at_ms: Date.now(), snapshot_truncated: false, snapshot_degraded: false, ...report },
  }));
  const all = [...live, ...rows];
  const batches = Array.from({ length: all.length / 25 }, (_, index) => all.slice(25 * index, 25 * index + 25));
  await forEach(batches, (batch) => writeBatch(table, batch));
}

const DECEIT = '<script>alert(1)</script>\u202e<b class="injected">\u2066" onload=alert(1) ';
const APP_KEY = 'key-of-the-hostile-account-for-this-test-000';

async function fillHostile(table: Table, url: string): Promise<void> {
  const [incident_id, alert_id] = ['b'.repeat(24), 'c'.repeat(24)];
  const fire = '🔥'.repeat(1_024);
  await loadLines(
    table,
    [
      { kind: 'account', name: DECEIT, permissions: ['monit'] },
      { kind: 'app_key', app_key: APP_KEY, note: DECEIT },
      { kind: 'host', host_id: DECEIT, agent_version: DECEIT, edge_cluster: fire, enabled: true, snapshot_ready: true },
      { kind: 'incident', incident_id, title: `${DECEIT}${'🔥'.repeat(400)}` },
      { kind: 'alert', alert_id, title: DECEIT },
      { kind: 'work_item', work_item_id: 'w', version: 1, title: `${DECEIT}${fire}` },
    ].map((line) => ({ account_id: HOSTILE, ...line })),
  );
  const body = JSON.stringify({ alert_ids: [alert_id], incident_id, comment: DECEIT + '🔥'.repeat(900) });
  const headers = { 'Content-Type': 'application/json' };
  const merged = await untilAnswered(async () => {
    const answer = await fetch(`${url}/alert/merge?app_key=${APP_KEY}`, { method: 'POST', headers, body });
    return (await answer.json()) as { error?: { code: string } };
  });
  assert.equal(merged.error, undefined);
}

const loadLines = (table: Table, lines: object[]) =>
  loadData(
    table,
    'test',
    lines.map((line) => JSON.stringify(line)),
    { nowSeconds: Math.floor(Date.now() / 1000) },
  );
