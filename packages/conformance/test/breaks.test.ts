import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkLab, openLab } from '../src/deployment.ts';
import type { Lab } from '../src/lab.ts';
import { startLab } from '../src/local.ts';
import { Skipped } from '../src/outcome.ts';
import { SECTIONS } from '../src/sections/index.ts';
import { createTrial } from '../src/trial.ts';
import { BREAKS } from './breaks.ts';
import { type Break, startProxy } from './proxy.ts';

let lab: Lab;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ lab, stop } = await startLab());
});
afterAll(() => stop());

/** Why the sentence does not hold; undefined when it does. */
async function verdict(section: string, begins: string, url: string, broken: Break): Promise<Error | undefined> {
  const sentence = SECTIONS.find(({ number }) => number === section)?.sentences.find(({ text }) =>
    text.startsWith(begins),
  );
  if (!sentence || 'open' in sentence) throw new Error(`Section ${section} has no sentence "${begins}".`);
  const proxies = [await startProxy(url, broken)];
  const impaired: NonNullable<Lab['impaired']> = async (how) => {
    const proxy = await startProxy((await lab.impaired?.(how)) ?? '', broken);
    proxies.push(proxy);
    return proxy.url;
  };
  try {
    await sentence.check(createTrial({ ...lab, url: proxies[0]?.url ?? '', impaired }, new Map()));
    return undefined;
  } catch (error) {
    return error as Error;
  } finally {
    for (const { close } of proxies) close();
  }
}

/** The latest test of each sentence. Tests of one sentence run one after another, since some change the same data. */
const latest = new Map<string, Promise<void>>();

describe.concurrent('the certificate notices that', () => {
  it.each(BREAKS)('%s', async (_name, section, begins, broken) => {
    const previous = latest.get(section + begins);
    const done = Promise.withResolvers<void>();
    latest.set(section + begins, done.promise);
    await previous;
    try {
      expect(await verdict(section, begins, lab.url, (call, pass) => pass(call))).toBeUndefined();
      const failure = await verdict(section, begins, lab.url, broken);
      expect(failure).toBeInstanceOf(Error);
      expect(failure).not.toBeInstanceOf(Skipped);
    } finally {
      done.resolve();
    }
  });
});

describe('a certificate by URL', () => {
  const certify = (url: string, ...more: string[]) =>
    new Promise<{ code: unknown; out: string }>((resolve) => {
      const args = [fileURLToPath(new URL('../src/main.ts', import.meta.url)), '--url', url, ...more];
      const env = { ...process.env, APP_KEY: lab.main.appKey };
      execFile(process.execPath, args, { env }, (error, stdout) => resolve({ code: error?.code ?? 0, out: stdout }));
    });

  it.each<[string, Break]>([
    ['Svc-Request-Id', async (call, pass) => ({ ...(await pass(call)), headers: {} })],
    ['RUM names', async (call, pass) => ({ ...(await pass(call)), body: { request_id: 'x', data: { wrong: 1 } } })],
    ['envelopes', async (call, pass) => ({ ...(await pass(call)), body: [] })],
    ['every answer', async (call, pass) => ({ ...(await pass(call)), body: undefined })],
  ])('is printed, and fails, when %s is broken', async (_what, broken) => {
    const { url, close } = await startProxy(lab.url, broken);
    const { code, out } = await certify(url, '--smoke', '--only', '2.4', '5');
    close();
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/of \d+ rules shown: \d+ ok, [1-9]\d* failed\. \d+ not shown/),
    ]);
  });

  it('shows without data what needs none, and says how many rules it has shown', async () => {
    const { code, out } = await certify(lab.url, '--smoke', '--only', '2.1', '4.3');
    expect([code, out]).toEqual([0, expect.stringMatching(/^3 of 14 rules shown: 3 ok, 0 failed\. 11 not shown/m)]);
  });

  it.each([
    ['a key that is not accepted', { APP_KEY: 'wrong' }, undefined, /does not accept this app key \(401\): check/],
    ['an empty key', { APP_KEY: '' }, undefined, /^The app key is empty: set APP_KEY/],
    ['data that was not imported', {}, 'other', /^The account has no unused data of run "other": import it/],
    ['nothing that answers', { URL: 'http://127.0.0.1:9' }, undefined, /^No answer from http:\/\/127\.0\.0\.1:9/],
  ])('stops with one sentence at %s', async (_what, { URL = lab.url, ...env }: NodeJS.ProcessEnv, run, sentence) => {
    const open = openLab(URL, run, { APP_KEY: lab.main.appKey, ...env });
    await expect(open.then((opened) => checkLab(opened, run))).rejects.toThrow(sentence);
  });
});
