import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiClient } from '../src/api-client.ts';
import { type Defect, deployedEnvironment, type Environment, Skipped } from '../src/environment.ts';
import { startEnvironment } from '../src/local.ts';
import { checkEnvironment } from '../src/preflight.ts';
import { REQUIREMENTS } from '../src/sections/index.ts';
import { BREAKS } from './breaks.ts';
import { type Break, startProxy } from './proxy.ts';

let environment: Environment;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ environment, stop } = await startEnvironment());
});
afterAll(() => stop());

/** The check of a requirement. @param beginning the number of its section and the beginning of its title, which no other requirement has */
function checkOf(beginning: string) {
  const found = REQUIREMENTS.filter(({ section, title }) => `${section.split(' ')[0]} ${title}`.startsWith(beginning));
  const [requirement] = found.map((numbered) => numbered.requirement);
  if (found.length !== 1 || !requirement || 'todo' in requirement)
    throw new Error(`${found.length} requirements begin with ${beginning}.`);
  return 'usesUpRateLimit' in requirement ? requirement.usesUpRateLimit : requirement;
}

/** Runs the check of a requirement on a broken service. @throws what the check throws */
async function checkBroken(beginning: string, broken: Break): Promise<void> {
  const check = checkOf(beginning);
  const proxies = [await startProxy(environment.url, broken)];
  const startDefective = async (defect: Defect) => {
    const proxy = await startProxy((await environment.startDefective?.(defect)) ?? '', broken);
    proxies.push(proxy);
    return proxy.url;
  };
  try {
    await check(createApiClient({ ...environment, url: proxies[0]?.url ?? '', startDefective }));
  } finally {
    for (const { close } of proxies) close();
  }
}

// Breaks of one requirement are tested one after another, since some checks change the same data.
describe.concurrent.each(Object.entries(BREAKS))('the check of "%s"', (beginning, breaks) => {
  it('passes on a service that is not broken', { concurrent: false }, () =>
    checkBroken(beginning, (call, pass) => pass(call)),
  );

  it.each(Object.entries(breaks))('fails when %s', { concurrent: false }, async (_name, broken) => {
    const failure = await checkBroken(beginning, broken).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(failure).not.toBeInstanceOf(Skipped);
  });
});

/** Runs `npm run certify` with these arguments. */
const certify = (args: string[], env: NodeJS.ProcessEnv) =>
  new Promise<{ code: unknown; out: string }>((resolve) => {
    const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
    execFile(process.execPath, [main, ...args], { env: { ...process.env, ...env } }, (error, out) =>
      resolve({ code: error?.code ?? 0, out }),
    );
  });

it('a certificate without --url fails if its service cannot start', async () => {
  const { code, out } = await certify(['--only', '9'], { DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' });
  expect([code, out]).toEqual([1, expect.stringMatching(/^0 of 0 requirements checked/m)]);
});

describe('a certificate by URL', () => {
  const smoke = (url: string, ...only: string[]) =>
    certify(['--smoke', '--url', url, '--only', ...only], { APP_KEY: environment.appKey });

  it.each<[string, Break]>([
    ['no Svc-Request-Id', async (call, pass) => ({ ...(await pass(call)), headers: {} })],
    [
      'a wrong RUM field',
      async (call, pass) => ({ ...(await pass(call)), body: { request_id: 'x', data: { wrong: 1 } } }),
    ],
    ['a body that is no envelope', async (call, pass) => ({ ...(await pass(call)), body: [] })],
    ['no body', async (call, pass) => ({ ...(await pass(call)), body: undefined })],
  ])('prints its summary and fails if the service answers with %s', async (_what, broken) => {
    const { url, close } = await startProxy(environment.url, broken);
    const { code, out } = await smoke(url, '2.4', '5');
    close();
    const summary = /of \d+ requirements checked: \d+ ok, [1-9]\d* failed\. \d+ not checked/;
    expect([code, out]).toEqual([1, expect.stringMatching(summary)]);
  });

  it('checks without data the requirements that need none, and prints how many it has checked', async () => {
    const { code, out } = await smoke(environment.url, '2.1', '4.3');
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^3 of 14 requirements checked: 3 ok, 0 failed\. 11 not checked/m),
    ]);
  });

  it('refuses to smoke-test with a data set, since a smoke test writes nothing', async () => {
    const { code, out } = await certify(['--smoke', '--url', environment.url, '--run', 'x', '--only', '4.3-4'], {
      APP_KEY: environment.appKey,
    });
    expect([code, out]).toEqual([2, '']);
  });

  it.each([
    ['a key that is not accepted', { APP_KEY: 'wrong' }, undefined, /does not accept this app key \(401\): check/],
    ['an empty key', { APP_KEY: '' }, undefined, /^The app key is empty: set APP_KEY/],
    ['data that was not imported', {}, 'other', /^The account has no unused data of run "other": import it/],
    ['nothing that answers', { URL: 'http://127.0.0.1:9' }, undefined, /^No answer from http:\/\/127\.0\.0\.1:9/],
  ])(
    'stops with one message at %s',
    async (_what, { URL = environment.url, ...env }: NodeJS.ProcessEnv, run, sentence) => {
      const opened = deployedEnvironment(URL, run, { APP_KEY: environment.appKey, ...env });
      await expect(opened.then((deployed) => checkEnvironment(deployed, run))).rejects.toThrow(sentence);
    },
  );
});
