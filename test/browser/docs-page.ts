/**
 * `npm run test:browser`: the reference page in headless Chromium (`CHROMIUM`, or /usr/bin/chromium), on a service of its own.
 * `--screenshot FILE` keeps a picture of it.
 */
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chromium } from 'playwright-core';

const index = process.argv.indexOf('--screenshot');
const screenshot = index > 0 ? process.argv[index + 1] : undefined;

const service = spawn(process.execPath, ['infra/local/start.ts', '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
let output = '';
const url = await new Promise<string>((resolve, reject) => {
  service.once('exit', () => reject(new Error(`the service did not start:\n${output}`)));
  service.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
    const served = /Serving at (\S+)/.exec(output)?.[1];
    if (served && output.includes('Press Ctrl-C to stop')) resolve(served);
  });
});
service.removeAllListeners('exit');

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1400 } });
  const problems: string[] = [];
  const foreign: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  page.on(
    'request',
    (request) => !request.url().startsWith(url) && !request.url().startsWith('data:') && foreign.push(request.url()),
  );

  await page.goto(url);
  await page.waitForSelector('.opblock');
  const paths = (await page.locator('.opblock-summary-path').allInnerTexts()).map((text) =>
    text.replaceAll('\u200b', ''),
  );
  assert.deepEqual(paths.sort(), [
    '/alert/merge',
    '/incident/work-item/delete',
    '/monit/servicemap/fleet',
    '/rum/resource/info',
  ]);
  assert.equal(page.url(), `${url}/docs`);

  const block = page.locator('.opblock', { hasText: '/monit/servicemap/fleet' });
  await block.locator('.opblock-summary').click();
  await block.locator('textarea.body-param__text').fill('{"limit":2}');
  await block.locator('button.execute').click();
  await block.locator('.live-responses-table .response-col_status').first().waitFor();
  const hosts = await block.locator('.live-responses-table').innerText();
  assert.match(hosts, /\b200\b/);
  assert.match(hosts, /host_id/);
  assert.deepEqual(problems, []);
  if (screenshot) {
    await block.locator('.live-responses-table').scrollIntoViewIfNeeded();
    await page.screenshot({ path: screenshot });
  }

  // The bound of a version is beyond 2^53.
  const deletion = page.locator('.opblock', { hasText: '/incident/work-item/delete' });
  await deletion.locator('.opblock-summary').click();
  await deletion.locator('.model-example .tablinks', { hasText: 'Schema' }).first().click();
  await deletion.getByText('Expand all').first().click();
  await deletion.getByText('Expand all').first().click();
  await page.waitForFunction("document.body.innerText.includes('9223372036854775806')");
  assert.doesNotMatch(await deletion.innerText(), /922337203685477(5807|6000)/);

  // Another key, by the page's own dialogue.
  await page.locator('button.authorize').first().click();
  const dialogue = page.locator('.dialog-ux');
  await dialogue.locator('button:has-text("Logout")').click();
  await dialogue.locator('input[type=text]').fill('wrong');
  await dialogue.locator('button[type=submit]').click();
  await dialogue.locator('button.btn-done').click();
  await block.locator('button.execute').click();
  await page.waitForFunction("/Unauthorized/.test(document.querySelector('.live-responses-table')?.textContent)");
  assert.match(await block.locator('.live-responses-table').innerText(), /"code": "Unauthorized"/);

  const phone = await browser.newPage({ viewport: { width: 390, height: 800 }, isMobile: true });
  await phone.goto(`${url}/docs`);
  await phone.waitForSelector('.opblock');
  const fleet = phone.locator('.opblock', { hasText: '/monit/servicemap/fleet' });
  await fleet.locator('.opblock-summary').click();
  await fleet.locator('button.execute').click();
  await fleet.locator('.live-responses-table .response-col_status').first().waitFor();
  const wide: number = await phone.evaluate('document.documentElement.scrollWidth - window.innerWidth');
  assert.ok(wide <= 0, `on a phone the page is ${wide} pixels too wide`);

  assert.deepEqual(foreign, []);
  process.stdout.write('ok the reference page renders, tries calls, and asks nobody else for anything\n');
} finally {
  await browser.close();
  const ended = once(service, 'close');
  service.kill('SIGTERM');
  await ended;
}
