/** Tests that a service worker of another project, which had the service's port before, does not control the console. */
import { strict as assert } from 'node:assert';
import { createServer } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { startService } from '../../.ci/support/processes.ts';
import { listen } from '../support/listen.ts';
import { consoleAddress } from './surroundings.ts';

const TAKEN = 'taken by a service worker';
const WORKER = `addEventListener('fetch', (event) => event.respondWith(new Response('${TAKEN}')))`;

export async function testServiceWorker(browser: Browser): Promise<void> {
  const page = await browser.newPage();
  const port = await leaveWorker(page);
  await using service = await startService(['--port', String(port)]);
  await page.goto(`${service.url}/docs`);
  assert.equal(await page.innerText('body'), TAKEN, 'the worker controls the pages of the API');
  await page.goto(consoleAddress(service.output));
  assert.notEqual(await page.innerText('body'), TAKEN, 'the worker controls the console');
  await page.getByRole('link', { name: 'Feed', exact: true }).click();
  await page.getByRole('heading', { name: 'Feed', exact: true }).waitFor();
  assert.ok(await page.evaluate('navigator.serviceWorker.controller === null'));
  await page.close();
  process.stdout.write("ok a service worker at the API's port does not control the console\n");
}

/** Does what the browser keeps of another project after its server has ended. @returns the port of that server */
async function leaveWorker(page: Page): Promise<number> {
  const server = createServer(({ url }, response) => {
    if (url === '/worker.js') response.setHeader('Content-Type', 'text/javascript').end(WORKER);
    else response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Another project</title>');
  });
  const port = await listen(server);
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.evaluate(
    "navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => 0)",
  );
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
