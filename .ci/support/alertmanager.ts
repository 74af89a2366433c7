/** Real Alertmanagers, of Debian, with the configuration of docs/senders.md. */
import { strict as assert } from 'node:assert';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../packages/local/dynamodb-local.ts';
import { shell, startServer, untilServed } from './processes.ts';

/** It repeats well within a minute, after which the walk's service takes an alert for one that has ended. */
const TIMES = ['group_wait: 0s', 'group_interval: 1s', 'repeat_interval: 15s'];

/**
 * Downloads Alertmanager into a folder. @param configurationOf the configuration of one that has this source
 * @returns starts one that has lost what it had stored
 */
export async function downloadAlertmanager(folder: string, configurationOf: (source: string) => string) {
  const download = 'apt-get download prometheus-alertmanager';
  await shell(`cd '${folder}' && { ${download} || { apt-get update && ${download}; }; } && dpkg-deb -x *.deb .`);

  return async function startAlertmanager(source: string) {
    rmSync(join(folder, source), { recursive: true, force: true });
    writeFileSync(
      join(folder, `${source}.yml`),
      configurationOf(source).replace('route:', `route:\n  ${TIMES.join('\n  ')}`),
    );
    const address = `127.0.0.1:${await freePort()}`;
    // By default, Debian's stores in /var/lib.
    const options = `--config.file=${source}.yml --storage.path=${source} --web.listen-address=${address} --cluster.listen-address= --log.level=warn`;
    // It reads its templates from /usr/share, and is not installed there: that would start it as a service of the machine.
    const line = `mount --bind usr/share /usr/share && exec usr/bin/prometheus-alertmanager ${options}`;
    const server = startServer('unshare', ['--map-root-user', '--mount', 'sh', '-c', line], {
      cwd: folder,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await untilServed('Alertmanager is ready', `http://${address}/-/ready`);
    const url = `http://${address}/api/v2/alerts`;
    return {
      ...server,
      send: (alert: object) => post(url, [alert]),
      /** Silences the alerts of a name for so many seconds. */
      silence: (alertname: string, seconds: number) =>
        post(`http://${address}/api/v2/silences`, {
          matchers: [{ name: 'alertname', value: alertname, isRegex: false }],
          ...{ startsAt: new Date(), endsAt: new Date(Date.now() + 1_000 * seconds) },
          ...{ createdBy: 'walk', comment: 'maintenance' },
        }),
      /** Sends an alert that fires. @returns it as Alertmanager shows it */
      async fire(alert: object): Promise<FiredAlert> {
        await post(url, [alert]);
        const [fired] = (await (await fetch(url)).json()) as FiredAlert[];
        return fired ?? assert.fail('Alertmanager shows no alert');
      },
    };
  };
}

interface FiredAlert {
  fingerprint: string;
  startsAt: string;
}

/** Sends to Alertmanager, as Prometheus sends alerts and `amtool` silences. */
async function post(url: string, body: object): Promise<void> {
  const request = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
  const response = await fetch(url, { ...request, body: JSON.stringify(body) });
  assert.equal(response.status, 200, await response.text());
}
