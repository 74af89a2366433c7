import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mergeAlerts } from '../../../../lib/http/operations.ts';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { objectId } from '../../../../test/support/incidents.ts';
import { newAppKey } from '../../../../test/support/service.ts';
import { cpuShareOf } from '../../cpu-share.ts';
import { startFunctionProcess } from '../../function-process.ts';
import { descendantsOf, start, stopsOn } from '../support/start-service.ts';

/** Burns processor time for as long as its event says, and tells how much it got in how long. */
const BURN = `export async function handler({ ms }) {
  const began = performance.now();
  const before = process.cpuUsage();
  while (performance.now() < began + ms) Math.sqrt(Math.random());
  const { user, system } = process.cpuUsage(before);
  return { usedMs: (user + system) / 1000, tookMs: performance.now() - began };
}`;

/** @returns the longest time for which this process did not get to its timers, in milliseconds */
function watchStalls(): () => number {
  let [last, longestMs] = [performance.now(), 0];
  const look = () => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - last);
    last = nowMs;
  };
  const timer = setInterval(look, 5);
  return () => {
    look();
    clearInterval(timer);
    return longestMs;
  };
}

let folder: string;
let entry: URL;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'burn-'));
  writeFileSync(join(folder, 'burn.mjs'), BURN);
  entry = pathToFileURL(join(folder, 'burn.mjs'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a function with a share of a processor', () => {
  it('gets no more than that share, and answers', async () => {
    const share = cpuShareOf(512);
    expect(share).toBeCloseTo(0.29, 2);
    const limited = startFunctionProcess({ entry, env: {}, timeoutMs: 30_000 }, share);
    await limited.invoke({ ms: 1 });
    const stalls = watchStalls();
    const { usedMs, tookMs } = (await limited.invoke({ ms: 2_000 })) as { usedMs: number; tookMs: number };
    const longestMs = stalls();
    await limited.stop();
    // The share of a tenth of a second may be saved up. What is used beyond the share until the next look is taken off afterwards, but
    // for the last time; the system counts in steps of 10 ms.
    const most = share * (tookMs + 100) + longestMs + 50;
    expect(usedMs, `with looks that were up to ${longestMs} ms late`).toBeLessThan(most);
    expect(usedMs).toBeGreaterThan(0);
  });
});

describe('npm start -- --limits aws', () => {
  it('serves, with its functions in processes of their own', async () => {
    // Data of its own, since other services that tests start have their sample in the same table.
    const [account_id, app_key] = [newAccountId(), newAppKey()];
    const [alert_id, incident_id] = [objectId(), objectId()];
    const data = join(folder, 'data.ndjson');
    const lines = [
      { kind: 'account', account_id, name: 'Acme', permissions: ['monit'] },
      { kind: 'app_key', account_id, app_key },
      { kind: 'incident', account_id, incident_id, title: 'Down' },
      { kind: 'alert', account_id, alert_id, title: 'Alert' },
    ];
    writeFileSync(data, lines.map((line) => JSON.stringify(line)).join('\n'));
    const args = ['--port', '0', '--limits', 'aws', '--data', data];
    const service = await start(args, { DYNAMODB_ENDPOINT: dynamodbEndpoint() });
    const { child, output } = service;
    const url = /Serving at (\S+)/.exec(output())?.[1];
    const call = () =>
      fetch(`${url}${mergeAlerts.path}?app_key=${app_key}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ alert_ids: [alert_id], incident_id }),
      });
    let answer = await call();
    // On a busy machine it may come too late.
    for (let again = 0; again < 9 && answer.status === 503; again += 1) answer = await call();
    expect([answer.status, await answer.json()]).toMatchObject([200, { data: null }]);
    const processes = await descendantsOf(child.pid as number);
    const { stdout } = await promisify(execFile)('ps', ['-o', 'args=', '-p', processes.join()]);
    expect(stdout).toMatch(/function-process.* \S+\/functions\/merge-alerts\.ts/);
    expect(stdout).toMatch(/function-process.* \S+\/functions\/usage-key-authorizer\.ts/);
    await stopsOn('SIGHUP', service);
  });

  it('refuses any other value', async () => {
    const { ended, errors } = await start(['--limits', 'gcp']);
    expect(await ended).toBe(2);
    expect(errors()).toBe('--limits must be aws, not "gcp".\n');
  });
});
