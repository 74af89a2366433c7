/** Tests the reference page: it renders, sends calls, and requests nothing from other servers. */
import { strict as assert } from 'node:assert';
import type { Page } from 'playwright-core';
import { openPage, overhang, type Surroundings } from './surroundings.ts';

export async function testReference(surroundings: Surroundings): Promise<void> {
  const { url } = surroundings;
  const { page, problems } = await openPage(surroundings, { viewport: { width: 1440, height: 760 } });
  await page.goto(url);
  await page.waitForSelector('.opblock');
  const paths = (await page.locator('.opblock-summary-path').allInnerTexts()).map((text) =>
    text.replaceAll('\u200b', ''),
  );
  assert.deepEqual(paths.sort(), [
    '/alert/merge',
    '/feed/alertmanager',
    '/feed/records',
    '/incident/work-item/delete',
    '/monit/servicemap/fleet',
    '/rum/resource/info',
  ]);
  assert.equal(page.url(), `${url}/docs`);
  const bottom = await page.locator('.opblock').last().boundingBox();
  assert.ok(bottom && bottom.y < 750, 'the operations come first');
  for (const name of ['Guide', 'Client', 'OpenAPI', 'Console']) {
    const address = await page.getByRole('link', { name, exact: true }).getAttribute('href');
    const { status } = await fetch(`${url}${address}`);
    // The link alone does not let a browser into the console: only the address that `npm start` prints does.
    assert.equal(status, name === 'Console' ? 401 : 200, name);
  }
  await surroundings.picture(page, 'reference-page');
  const merge = page.locator('.opblock', { hasText: '/alert/merge' });
  await merge.locator('.opblock-summary').click();
  assert.match(
    await merge.getByPlaceholder('Idempotency-Key').inputValue(),
    /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/,
  );
  await merge.locator('.opblock-summary').click();

  const block = page.locator('.opblock', { hasText: '/monit/servicemap/fleet' });
  await block.locator('.opblock-summary').click();
  await block.locator('textarea.body-param__text').fill('{"limit":2}');
  await block.locator('button.execute').click();
  await block.locator('.live-responses-table .response-col_status').first().waitFor();
  const hosts = await block.locator('.live-responses-table').innerText();
  assert.match(hosts, /\b200\b/);
  assert.match(hosts, /host_id/);
  assert.deepEqual(problems, []);
  const light = await backgroundOf(page);

  // The bound of `version` is beyond 2^53.
  const deletion = page.locator('.opblock', { hasText: '/incident/work-item/delete' });
  await deletion.locator('.opblock-summary').click();
  await deletion.locator('.model-example .tablinks', { hasText: 'Schema' }).first().click();
  await deletion.getByText('Expand all').first().click();
  await deletion.getByText('Expand all').first().click();
  await page.waitForFunction("document.body.innerText.includes('9223372036854775806')");
  assert.doesNotMatch(await deletion.innerText(), /922337203685477(5807|6000)/);

  // In the page's dialogue a user can enter another key.
  await page.locator('button.authorize').first().click();
  const dialogue = page.locator('.dialog-ux');
  await dialogue.locator('button:has-text("Logout")').click();
  await dialogue.locator('input[type=text]').fill('wrong');
  await dialogue.locator('button[type=submit]').click();
  await dialogue.locator('button.btn-done').click();
  await block.locator('button.execute').click();
  await page.waitForFunction("/Unauthorized/.test(document.querySelector('.live-responses-table')?.textContent)");
  assert.match(await block.locator('.live-responses-table').innerText(), /"code": "Unauthorized"/);

  // The browser logs the 401 of the wrong key to its console.
  assert.deepEqual(
    problems.filter((problem: string) => !problem.includes('401')),
    [],
  );

  const phone = await openPage(surroundings, {
    viewport: { width: 390, height: 844 },
    isMobile: true,
    colorScheme: 'dark',
  });
  await phone.page.goto(`${url}/docs`);
  await phone.page.waitForSelector('.opblock');
  assert.notEqual(await backgroundOf(phone.page), light);
  const fleet = phone.page.locator('.opblock', { hasText: '/monit/servicemap/fleet' });
  await fleet.locator('.opblock-summary').click();
  await fleet.locator('button.execute').click();
  await fleet.locator('.live-responses-table .response-col_status').first().waitFor();
  const excess = await overhang(phone.page);
  assert.ok(excess <= 0, `on a phone the page is ${excess} pixels too wide`);
  assert.deepEqual(phone.problems, []);
  process.stdout.write('ok the reference page renders, sends calls, and requests nothing from other servers\n');
}

const backgroundOf = (page: Page) =>
  page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
