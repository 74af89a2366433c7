/** Tests the reference page: it renders, sends calls, and requests nothing from other servers. */
import { strict as assert } from 'node:assert';
import type { Page } from 'playwright-core';
import { operations } from '../../lib/operations/index.ts';
import { DESKTOP, expectAccessible, expectFits, openPage, PHONE, type Surroundings } from './surroundings.ts';

export async function testReference(surroundings: Surroundings): Promise<void> {
  const { url } = surroundings;
  const { page, problems } = await openPage(surroundings, DESKTOP);
  await page.goto(url);
  await page.waitForSelector('.opblock');
  const paths = await page.locator('.opblock-summary-path').allInnerTexts();
  assert.deepEqual(
    paths.map((text) => text.replaceAll('\u200b', '')).sort(),
    operations.map(({ path }) => path).sort(),
  );
  assert.equal(page.url(), `${url}/docs`);
  const links = page.getByRole('navigation', { name: 'Links' }).getByRole('link');
  assert.deepEqual(await links.allInnerTexts(), ['OpenAPI']);
  for (const link of await links.all()) {
    const { status } = await fetch(`${url}${await link.getAttribute('href')}`);
    assert.equal(status, 200, await link.innerText());
  }
  await surroundings.picture(page, 'reference-page');
  await expectAccessible(page);
  await callFleet(page);
  await expectAccessible(page);
  const light = await backgroundOf(page);

  // The bound of `version` is beyond 2^53.
  const deletion = await toggle(page, '/incident/work-item/delete');
  await deletion.locator('.model-example .tablinks', { hasText: 'Schema' }).first().click();
  for (let clicks = 0; clicks < 2; clicks += 1) await deletion.getByText('Expand all').first().click();
  await page.waitForFunction("document.body.innerText.includes('9223372036854775806')");
  assert.doesNotMatch(await deletion.innerText(), /922337203685477(5807|6000)/);

  const phone = await openPage(surroundings, { ...PHONE, colorScheme: 'dark' });
  await phone.page.goto(`${url}/docs`);
  await phone.page.waitForSelector('.opblock');
  assert.notEqual(await backgroundOf(phone.page), light);
  await expectAccessible(phone.page);
  await callFleet(phone.page);
  await expectFits(phone.page);
  await expectAccessible(phone.page);
  assert.deepEqual([...problems, ...phone.problems], []);
  process.stdout.write('ok the reference page renders, sends calls, and requests nothing from other servers\n');
}

/** Opens or closes the block of an operation. */
async function toggle(page: Page, path: string) {
  const block = page.locator('.opblock', { hasText: path });
  await block.locator('.opblock-summary').click();
  return block;
}

/** Sends a call to browse-fleet from the page. */
async function callFleet(page: Page): Promise<void> {
  const fleet = await toggle(page, '/monit/servicemap/fleet');
  await fleet.locator('button.execute').click();
  const responses = fleet.locator('.live-responses-table');
  await responses.locator('.response-col_status').first().waitFor();
  assert.match(await responses.innerText(), /\b200\b.*host_id/s);
}

const backgroundOf = (page: Page) =>
  page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
