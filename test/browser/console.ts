/** Tests the operator's console with the sample. packages/admin/test/integration/console.test.ts needs no browser. */
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import {
  consoleAddress,
  DESKTOP,
  expectAccessible,
  expectFits,
  openPage,
  PHONE,
  type Surroundings,
} from './surroundings.ts';

const shell = promisify(execFile);

export async function testConsole(surroundings: Surroundings): Promise<void> {
  const { browser } = surroundings;
  const address = consoleAddress(surroundings.printed);
  const { origin: url } = new URL(address);
  const desktop = await openPage({ url, browser }, DESKTOP);
  const phone = await openPage({ url, browser }, PHONE);
  const { page } = desktop;
  await page.goto(address);
  const home = page.url().replace(/\/$/, '');
  await phone.context.addCookies(await desktop.context.cookies());
  await follow(page, page.getByRole('region', { name: 'Accounts' }).getByRole('link', { name: 'Northwind Platform' }));
  await explainsStaleHosts(page, surroundings);
  await findsAndUndoesMerge(page, phone.page, surroundings);
  await refreshes(page, home);

  await page.goto(`${home}/1/fleet`);
  const host = await page.locator('#hosts a').first().getAttribute('href');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  const isInMain = await page.evaluate('document.activeElement.closest("main") !== null');
  assert.ok(isInMain, 'the first link skips to the content');
  await page.goto(`${home}/1/health`);
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByText(/Checked at /).waitFor();

  await page.goto(`${home}/1/incidents`);
  const [incident, alert] = await Promise.all(
    ['incident', 'alert'].map((kind) => page.locator(`.merges a[href*="/${kind}/"]`).first().getAttribute('href')),
  );
  const openAlert = await closesAlert(page, home);
  const names = ['fleet', 'alerts', 'alerts?state=ended', 'incidents', 'work-items', 'account', 'health'];
  const accountPages = names.map((name) => `1/${name}`);
  for (const path of ['', 'feed', 'find?id=x', 'nowhere', ...accountPages, host, incident, alert, openAlert])
    for (const { page } of [desktop, phone]) {
      await page.goto(`${home}/${path}`);
      await expectReadable(page);
    }
  // The answer to the path `nowhere` is a 404.
  const problems = [...desktop.problems, ...phone.problems].filter((problem) => !problem.includes('404'));
  assert.deepEqual(problems, []);
  process.stdout.write('ok the console works on a desktop, on a phone, in the dark scheme and by keyboard\n');
}

/** Fails unless the page is accessible in the light and in the dark scheme, and fits the screen. */
async function expectReadable(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page);
  }
  await expectFits(page);
  await expectWholeNumbers(page);
  // Texts without blanks, longer than stored ones may be where they are shown.
  await page.evaluate(`for (const leaf of document.querySelectorAll('main :is(a, td, dd, code, summary, h1):not(:has(*), .number, .badge a)'))
    leaf.textContent = 'x'.repeat(512)`);
  await expectFits(page);
}

/** Fails if a number would wrap that is larger than those of the sample. It changes the page. */
async function expectWholeNumbers(page: Page): Promise<void> {
  const wrapped = await page.evaluate<string[]>(`[...document.querySelectorAll('td.number')].filter((cell) => {
    cell.textContent = '1,536';
    const text = document.createRange();
    text.selectNodeContents(cell);
    return text.getClientRects().length > 1;
  }).map(({ outerHTML }) => outerHTML)`);
  assert.deepEqual(wrapped, [], `numbers wrap on ${page.url()}`);
}

/** Clicks a link and waits until its page has loaded. */
async function follow(page: Page, link: Locator): Promise<void> {
  const address = String(await link.evaluate((element) => (element as unknown as { href: string }).href));
  await link.click();
  await page.waitForURL(address);
}

/** The console shows why a host of the worst cluster is stale. */
async function explainsStaleHosts(page: Page, surroundings: Surroundings): Promise<void> {
  assert.equal(await page.title(), 'Fleet – Northwind Platform (1) – console');
  assert.match(await page.innerText('.headline'), /^600 hosts\s+56 stale/);
  await surroundings.picture(page, 'console-fleet');
  const hosts = page.getByRole('region', { name: 'Hosts' });
  await follow(page, page.getByRole('region', { name: 'By edge cluster' }).getByRole('link', { name: 'fra-2' }));
  await follow(page, page.locator('main > p').getByRole('link', { name: '56 stale' }));
  assert.equal(await hosts.locator('tbody tr').count(), 26);
  await hosts.locator('summary').first().click();
  await hosts.getByText('more than twice the report interval of 30 s. (rule 7)').first().waitFor();
  await surroundings.picture(page, 'console-hosts');
}

/** Sends the merge of the sample; again while its answer is ServiceUnavailable, since on a busy machine DynamoDB Local may be too slow. */
async function merge(command: string): Promise<string> {
  const { stdout } = await shell('bash', ['-c', command]);
  const { request_id, error } = JSON.parse(stdout) as { request_id: string; error?: { code: string } };
  return error?.code === 'ServiceUnavailable' ? merge(command) : request_id;
}

/** On a desktop the console shows what a request did, and on a phone, by touch, how to undo it. */
async function findsAndUndoesMerge(page: Page, phone: Page, surroundings: Surroundings): Promise<void> {
  const requestId = await merge(/^curl .*\/alert\/merge.*$/m.exec(surroundings.printed)?.[0] ?? '');
  await page.getByRole('searchbox').fill(requestId);
  await page.keyboard.press('Enter');
  await follow(page, page.getByRole('link', { name: requestId }));
  assert.ok((await page.locator('.merges > li:target').innerText()).includes(requestId));
  await follow(page, page.getByRole('link', { name: 'Incidents' }));
  await surroundings.picture(page, 'console-merges');
  await phone.goto(page.url());
  await phone.emulateMedia({ colorScheme: 'dark' });
  await surroundings.picture(phone, 'console-phone');

  await phone.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await phone.locator('.merges dd', { hasText: 'merge undo' }).getByRole('button', { name: 'Copy' }).tap();
  await phone.getByRole('status').getByText('Copied', { exact: true }).waitFor({ state: 'attached' });
  const undone = await shell('bash', ['-c', await phone.evaluate<string>('navigator.clipboard.readText()')]);
  assert.match(undone.stdout, /^2 of 2 alerts moved back\. History entry \d+\.\n$/);
  await follow(phone, phone.getByRole('link', { name: 'Refresh' }));
  assert.match(await phone.innerText('.merges'), /^Undo of \d+ into .*operator local user.*undone/s);
}

/** The page of open alerts leads to those of a severity, and the command on an alert's page closes it. @returns the address of an open one */
async function closesAlert(page: Page, home: string): Promise<string | null> {
  await page.goto(`${home}/1/alerts`);
  const alerts = page.getByRole('region', { name: 'Open alerts' });
  const before = await alerts.locator('tbody tr').count();
  await follow(page, page.locator('main > p').getByRole('link', { name: /\d Info$/ }));
  const titles = alerts.locator('tbody th a');
  const [first, second] = [titles.first(), titles.nth(1)];
  const stays = await second.getAttribute('href');
  await follow(page, first);
  const command = page.locator('dd', { hasText: 'alert close' }).locator('code');
  assert.match((await shell('bash', ['-c', await command.innerText()])).stdout, /^Alert \w{24} closed\.\n$/);
  await page.goto(`${home}/1/alerts`);
  assert.equal(await alerts.locator('tbody tr').count(), before - 1);
  return stays;
}

/** A page refreshes by itself if asked to. */
async function refreshes(page: Page, home: string): Promise<void> {
  await page.clock.install();
  await page.goto(`${home}/1/incidents`);
  const box = page.getByLabel('every 10 s');
  await box.check();
  const loaded = page.waitForEvent('load');
  await page.clock.fastForward(10_000);
  await loaded;
  assert.equal(await box.isChecked(), true);
  await box.uncheck();
  await page.clock.resume();
}
