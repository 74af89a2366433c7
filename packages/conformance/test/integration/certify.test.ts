import { execFile } from 'node:child_process';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { stepOf, textOf } from '../../../../test/support/documents.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { serve } from '../../../../test/support/serve.ts';
import { newTable } from '../../../../test/support/service.ts';
import { countAlerts } from '../../../admin/incidents/list.ts';
import { adminOf } from '../../../admin/test/support/run-admin.ts';
import { runProgram } from '../../../client/test/support/run-command.ts';
import { serveTable } from '../../../local/test/support/start-service.ts';
import { createApiClient, RUM } from '../../src/api-client.ts';
import { dataSetOf } from '../../src/data.ts';
import { deployedEnvironment } from '../../src/environment.ts';
import { checkEnvironment } from '../../src/preflight.ts';
import { contract } from '../../src/sections/index.ts';

const table = await newTable();
const service = await serveTable(table);
afterAll(() => service.stop());
const { appKey } = await newAccount(table);

const certify = (...args: string[]) =>
  runProgram([process.execPath, 'packages/conformance/src/main.ts', ...args], { url: service.url, appKey });

describe('npm run certify', () => {
  it('checks without data the requirements that need none, and prints how many it has checked', async () => {
    const { code, out } = await certify('--smoke', '--url', service.url, '--only', '2.1', '4.3');
    const summary = /^3 of 14 requirements checked: 3 ok, 0 failed\. 11 not checked/m;
    expect([code, out]).toEqual([0, expect.stringMatching(summary)]);
  });

  it('fails if an answer breaks the contract', async () => {
    const url = await serve((_request, response) => response.writeHead(400).end('{"request_id":"1","error":{}}'));
    const { code, out } = await certify('--smoke', '--url', url, '--only', '5');
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/^\d+ of 9 requirements checked: \d ok, [1-9]\d* failed\./m),
    ]);
  });

  it('certifies as the example pipeline does: with app keys alone, by data that it sends to the feed', async () => {
    const admin = adminOf(table);
    await admin('account create 7001 --name Certificate --permission monit --permission feed');
    const APP_KEY = (await admin('app-key issue --account 7001')).out.trim();
    using folder = mkdtempDisposableSync(join(tmpdir(), 'records-'));
    const step = stepOf(textOf('examples/pipeline/deploy.yml'), 'certify')
      .replaceAll(/\brecords\b(?=$| \|)/gm, join(folder.path, 'records'))
      .replace('npm run certify --', '$& --only 4.3 4.4');
    const applied = join(folder.path, 'applied');
    // Its fixed wait, which is longer than a test needs and too short on a busy machine.
    const sleep = `sleep() { until [ -e '${applied}' ]; do command sleep 0.2; done; }`;
    const env = { ...process.env, APP_KEY, URL: service.url, RUN: 'pipeline' };
    const certified = promisify(execFile)('bash', ['-e', '-c', `${sleep}\n${step}`], { env, timeout: 100_000 });
    const { alerts, incidents } = dataSetOf('pipeline');
    const arrived = () => countAlerts(table, 7001, 100).then((counts) => counts?.get(incidents.source));
    await expect.poll(arrived, { timeout: 90_000 }).toBe(alerts.length);
    writeFileSync(applied, '');
    const { stdout } = await certified;
    expect(stdout.match(/"accepted":\d+/g)).toEqual(['"accepted":1000', expect.stringMatching(/:[1-9]\d+$/)]);
    expect(stdout).toMatch(/^\d\d of \d+ requirements checked: \d\d ok, 0 failed/m);
  });

  it.each([
    ['a key that is not accepted', { APP_KEY: 'wrong' }, undefined, /does not accept this app key \(401\): check/],
    ['an empty key, which counts as none', { APP_KEY: '' }, undefined, /^No app key given: set APP_KEY/],
    ['data that was not imported', {}, 'other', /^The account has no unused data of run "other": import it/],
    ['nothing that answers', { URL: 'http://127.0.0.1:9' }, undefined, /^No answer from http:\/\/127\.0\.0\.1:9/],
  ])('stops with one message at %s', async (_what, { URL = service.url, ...env }: NodeJS.ProcessEnv, run, sentence) => {
    const opened = deployedEnvironment(URL, run, { APP_KEY: appKey, ...env });
    await expect(opened.then((deployed) => checkEnvironment(deployed, run))).rejects.toThrow(sentence);
  });
});

it('a call ends when its answer stops', async () => {
  const url = await serve((_request, response) => response.writeHead(200).write('{"request_id":'));
  const api = createApiClient(await deployedEnvironment(url, undefined, { APP_KEY: 'k' }), contract, new Map(), 200);
  await expect(api.call(RUM)).rejects.toThrow(`No answer from ${url}: check --url.`);
  expect(api.calls).toEqual([`POST ${RUM} {} → no answer`]);
});
