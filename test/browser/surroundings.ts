/** The service and the browser that the tests of pages share, and checks for every page. */
import { strict as assert } from 'node:assert';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { startService } from '../../.ci/support/processes.ts';

export interface Surroundings {
  readonly url: string;
  /** What `npm start` printed. */
  readonly printed: string;
  readonly browser: Browser;
  /** Takes a picture for the documents, if `--pictures` asks for them. */
  picture(page: Page, file: string): Promise<void>;
}

/** The address of the console in what `npm start` printed. */
export const consoleAddress = (printed: string) => /^Console {4}(\S+)$/m.exec(printed)?.[1] ?? '';

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-sync'],
      ...['--disable-background-networking', '--disable-component-update'],
    ],
  });

/** Starts the service with its sample and the browser, runs the tests and stops both. */
export async function withService(
  pictures: boolean,
  test: (surroundings: Surroundings) => Promise<void>,
): Promise<void> {
  await using service = await startService();
  const browser = await launchBrowser();
  try {
    const picture = async (page: Page, file: string) => {
      if (pictures) await page.screenshot({ path: `docs/${file}.png` });
    };
    await test({ url: service.url, printed: service.output, browser, picture });
  } finally {
    await browser.close();
  }
}

export const DESKTOP = { viewport: { width: 1440, height: 760 } };
export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

/** Long enough for any machine: a test fails only if what it waits for never comes. */
const MAX_WAIT_MS = 300_000;

/** Opens a page. @returns the page and its problems: errors in the browser's console, and requests to other servers than `url` */
export async function openPage(
  { url, browser }: Pick<Surroundings, 'url' | 'browser'>,
  options: BrowserContextOptions = {},
) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(MAX_WAIT_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:')) problems.push(request.url());
  });
  return { context, page, problems };
}

/** Fails if the page is wider than the screen, or what is in a section wider than the section. */
export async function expectFits(page: Page): Promise<void> {
  const excess: number = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
  assert.ok(excess <= 0, `${page.url()} is ${excess} pixels too wide`);
  const overflowing = await page.evaluate<string[]>(
    "[...document.querySelectorAll('#content section')].filter((part) => part.scrollWidth > part.clientWidth).map(({ id }) => id)",
  );
  assert.deepEqual(overflowing, [], `${page.url()} has sections that are too narrow`);
}

/** Fails if axe finds a violation of accessibility. */
export async function expectAccessible(page: Page): Promise<void> {
  // It runs through the debugger, so the page's content security policy need not allow it.
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run()')) as { violations: axe.Result[] };
  const found = violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html.slice(0, 200)}`);
  assert.deepEqual(found, [], `${page.url()} is not accessible`);
}
