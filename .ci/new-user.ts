/**
 * The first day of a new user: makes the calls of README.md and undoes its merge as docs/operate.md says, looking at the console after
 * each; sends records, and reads and merges their alerts, by the commands of the client's README; then two real Alertmanagers, of Debian, send
 * the same alert with the configuration of docs/senders.md; one is restarted, and sends its end. Meanwhile an account is erased and an alert whose
 * end Alertmanager does not send ends by silence, which take minutes.
 */
import { strict as assert } from 'node:assert';
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../packages/client/src/index.ts';
import { DEMO_KEYS } from '../packages/local/sample.ts';
import { downloadAlertmanager } from './support/alertmanager.ts';
import { pack, root, shell, startServer, startService, until } from './support/processes.ts';

const ACCOUNT = 1;
using temporary = mkdtempDisposableSync(join(tmpdir(), 'new-user-'));
const folder = temporary.path;
const eventsFile = join(folder, 'events.ndjson');
await using service = await startService(['--events', eventsFile], { ALERT_SILENCE_SECONDS: '60' });
const client = createClient({ url: service.url, appKey: DEMO_KEYS.demo });
const startAlertmanager = await downloadAlertmanager(folder, configurationOf);
const reportDone = (what: string) => process.stdout.write(`ok ${what}\n`);

/** What a document shows that fits the pattern, as far as its first group. */
function shown(document: string, pattern: RegExp): string {
  const [, text] = pattern.exec(readFileSync(join(root, document), 'utf8')) ?? [];
  assert.ok(text, `${document} does not show ${pattern}`);
  return text;
}

async function signIn() {
  const [, address = ''] = /^Console +(\S+)$/m.exec(service.output) ?? [];
  const { headers } = await fetch(address, { redirect: 'manual' });
  const home = new URL(headers.get('location') ?? '', address);
  const [cookie = ''] = headers.getSetCookie();
  /** Waits until the console finds the id, with these texts. */
  return (id: string, ...texts: string[]) =>
    until(`the console shows ${id} with ${texts.join(' and ')}`, async () => {
      const page = await fetch(new URL(`find?id=${id}`, home), { headers: { Cookie: cookie } });
      const shownText = await page.text();
      return texts.every((text) => shownText.includes(text));
    });
}
const expectFound = await signIn();

/** On a busy machine a call may be answered with 503. */
const PATIENT_CURL = 'curl() { command curl --retry 3 "$@"; }';
/** Makes a call as README.md shows it. @returns what it sent, and the items of the answer if that is a list */
async function call(path: string) {
  const settings = shown('README.md', /```sh\n(URL=.*?)```/s).replace('http://127.0.0.1:3000', service.url);
  const line = shown('README.md', new RegExp(`^(call ${path} .*)$`, 'm'));
  const answer = await shell(`${PATIENT_CURL}\n${settings}${line}`);
  const { data } = JSON.parse(answer);
  assert.notEqual(data, undefined, answer);
  return { ...JSON.parse(/'(.*)'$/.exec(line)?.[1] ?? ''), items: data?.items };
}

async function sendMergeAndUndo(): Promise<void> {
  for (const path of ['/monit/servicemap/fleet', '/rum/resource/info', '/incident/work-item/delete']) await call(path);
  const { records } = await call('/feed/records');
  await expectFound(await listedId(records[0].alert_key), records[0].title, 'in no incident');
  const { alerts } = await call('/feed/alertmanager');
  const id = await listedId(keyOf(alerts[0]));
  await expectFound(id, alerts[0].annotations.summary);
  await call('/alert/list');
  const { alert_id } = await call('/alert/info');
  const [found] = (await call('/incident/list')).items;
  const [member] = (await call('/member/list')).items;
  const { alert_ids, incident_id: incident, owner_id } = await call('/alert/merge');
  assert.deepEqual([alert_id, alert_ids[0]], [id, id]);
  assert.deepEqual([incident, owner_id], [found.incident_id, member.member_id]);
  for (const merged of alert_ids) await expectFound(merged, `in incident ${incident}`);
  const admin = shown('docs/operate.md', /^(admin\(\).*)$/m);
  const undo = shown('docs/operate.md', /^(ENTRY=.*\nadmin merge undo .*)$/m)
    .replaceAll(/\b[0-9a-f]{24}\b/g, incident)
    .replaceAll(/--account \d+/g, `--account ${ACCOUNT}`);
  assert.match(await shell(`${admin}\n${undo}`, { SERVICE_URL: service.url }), /^2 of 2 alerts moved back\./);
  for (const merged of alert_ids) await expectFound(merged, 'in no incident');
  reportDone('the calls of the README, and the undo of the merge');
}

/** The key of an alert of Alertmanager, as in docs/senders.md. */
const keyOf = ({ fingerprint }: { fingerprint: string }, ...sources: string[]) =>
  ['alertmanager', ...sources, fingerprint].join(' ');

/** The last alert of a key. */
const lastAlertOf = async (alertKey: string) => (await client.listAlerts({ alert_keys: [alertKey] })).items[0];

/** Waits until an alert of the key is listed. */
const listedId = (alertKey: string) =>
  until(`the alert ${alertKey} is listed`, async () => (await lastAlertOf(alertKey))?.alert_id);

/** Installs the client, and makes of its README's commands a function that runs the one of this name, with values for its words in capitals. */
async function installClient() {
  const file = await pack('packages/client', folder);
  await shell(`cd '${folder}' && npm install --no-audit --no-fund --ignore-scripts ${file}`);
  return (name: string, ...values: string[]) => {
    const command = shown(
      'packages/client/README.md',
      new RegExp(`^(npx incident-monitoring-rum-client ${name} (?:.*\\|\n)?.*)$`, 'm'),
    );
    const remaining = [...values];
    const line = command.replace(/\b[A-Z]+\b/g, () => remaining.shift() ?? assert.fail(command));
    return `cd '${folder}' && export APP_KEY='${DEMO_KEYS.demo}' BASE_URL='${service.url}' && ${[line, ...remaining].join(' ')}`;
  };
}

const RECORDS = 15_000;

/** Three alerts, a line that is cut off, and many records of a few members. */
function recordsToSend(): string[] {
  const alert = (index: number) => ({
    kind: 'alert',
    alert_key: `job ${index}`,
    alert_status: 'Critical',
    title: 'Failed',
  });
  const member = (index: number) => ({ kind: 'member', member_id: 900 + (index % 10), name: `Member ${index}` });
  const lines = Array.from({ length: RECORDS }, (_, index) => JSON.stringify(index < 3 ? alert(index) : member(index)));
  return lines.with(7, '{"kind":"member"');
}

/** Runs a command until it has printed a number of lines of JSON, then kills it. @returns the last line */
async function runAndKill(line: string, count: number) {
  const command = startServer('bash', ['-c', line], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  for await (const chunk of command.child.stdout ?? []) {
    printed += chunk;
    if (printed.split('\n').length > count) break;
  }
  command.kill();
  return JSON.parse(printed.trim().split('\n').at(-1) ?? '');
}

async function sendAndReadByCommand(): Promise<void> {
  const command = await installClient();
  writeFileSync(join(folder, 'jobs.ndjson'), `${recordsToSend().join('\n')}\n`);
  const { last_line } = await runAndKill(command('records', 'jobs.ndjson', '--json'), 2);
  assert.ok(last_line > 1_000 && last_line < RECORDS, `killed after line ${last_line}`);
  const sent = await shell(command('records', 'jobs.ndjson', `--from-line=${last_line + 1}`));
  assert.equal(sent, `${RECORDS - last_line} records sent.\n`);
  const listJobs = async () => (await client.listAlerts({ alert_keys: ['job 0', 'job 1', 'job 2'] })).items;
  await until('the alerts are open', async () => (await listJobs()).length === 3);
  const incident = shown('README.md', /"incident_id": "(\w+)"/);
  assert.match(await shell(command('incidents')), /disk/i);
  // Those of the file are open.
  await shell(command('alerts', incident).replace(' --ended', ''));
  for (const { alert_id } of await listJobs()) await expectFound(alert_id, `in incident ${incident}`);
  reportDone("the client's command sends records, goes on after it was killed, and reads and merges the alerts");
}

/** The configuration of docs/senders.md, with which Alertmanager sends to the service. */
function configurationOf(source: string) {
  return shown('docs/senders.md', /```yaml\n(route:\n.*?)```/s)
    .replace('http://127.0.0.1:3000', service.url)
    .replace('source=laptop', `source=${source}`);
}

/** Two clusters have an alert of the same labels, one resolves its own, and the other's stays open. */
async function receiveFromAlertmanagers(): Promise<void> {
  const labels = { alertname: 'DiskFull', instance: 'db-9' };
  const diskFull = { labels, annotations: { summary: 'Disk 9 is full', runbook_url: 'https://wiki.example.com/disk' } };
  await using other = await startAlertmanager('us');
  const otherKey = keyOf(await other.fire(diskFull), 'us');
  const otherId = await listedId(otherKey);
  assert.deepEqual((await lastAlertOf(otherKey))?.annotations, { runbook_url: diskFull.annotations.runbook_url });
  let id: string;
  {
    await using alertmanager = await startAlertmanager('eu');
    id = await listedId(keyOf(await alertmanager.fire(diskFull), 'eu'));
    await expectFound(id, 'Disk 9 is full', 'in no incident');
  }
  await using alertmanager = await startAlertmanager('eu');
  // Without a start of its own, the alert starts anew.
  const again = await alertmanager.fire({ labels, annotations: { summary: 'Disk 9 is still full' } });
  const key = keyOf(again, 'eu');
  await until('the alert is sent again', async () => (await lastAlertOf(key))?.title === 'Disk 9 is still full');
  assert.equal((await lastAlertOf(key))?.alert_id, id);
  await alertmanager.send({ ...diskFull, startsAt: again.startsAt, endsAt: new Date().toISOString() });
  await until('the alert has ended', async () => Number((await lastAlertOf(key))?.end_time) > 0);
  const open = (await Array.fromAsync(client.alerts())).filter(({ title }) => title.startsWith('Disk 9'));
  assert.deepEqual(
    open.map(({ alert_id }) => alert_id),
    [otherId],
  );
  reportDone('alerts of two Alertmanagers arrive, survive a restart, and are resolved each by its own');
}

/** The detail of the event that an alert of the key has ended. */
const endTold = (alertKey: string) =>
  until(`the end of ${alertKey} is told`, async () =>
    readFileSync(eventsFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"AlertResolved"'))
      .map((line) => JSON.parse(line).detail)
      .find(({ alert_key }) => alert_key === alertKey),
  );

/** Alertmanager never sends an end within a silence, also once the silence is over. */
async function endBySilence(): Promise<void> {
  await using alertmanager = await startAlertmanager('quiet');
  const alert = { labels: { alertname: 'DiskSlow' }, annotations: { summary: 'A disk is slow' } };
  const fired = await alertmanager.fire(alert);
  const key = keyOf(fired, 'quiet');
  await listedId(key);
  await alertmanager.silence('DiskSlow', 10);
  await alertmanager.send({ ...alert, startsAt: fired.startsAt, endsAt: new Date() });
  await until('the alert ends by silence', async () => Number((await lastAlertOf(key))?.end_time) > 0, 4);
  assert.equal((await endTold(key)).reason, 'silent');
  reportDone('an alert whose end is not sent ends by silence');
}

/** A record with a key and the status `Ok` alone loses nothing. */
async function endByKey(): Promise<void> {
  const alert = { alert_key: 'ci deploy', title: 'The deployment failed', labels: { team: 'web' } };
  await client.sendRecords({ records: [{ kind: 'alert', ...alert }] });
  await listedId(alert.alert_key);
  await client.sendRecords({ records: [{ kind: 'alert', alert_key: alert.alert_key, alert_status: 'Ok' }] });
  const { title, labels, reason } = await endTold(alert.alert_key);
  assert.deepEqual([title, labels, reason], [alert.title, alert.labels, undefined]);
  const ended = await lastAlertOf(alert.alert_key);
  assert.deepEqual([ended?.title, ended?.labels, Number(ended?.end_time) > 0], [alert.title, alert.labels, true]);
  reportDone('an alert ends by its key alone, and keeps its title and labels');
}

/** Erases an account that has sent records: nobody gets in with its key, and nothing of it is shown or comes back. */
async function eraseAccount(): Promise<void> {
  const admin = (command: string) =>
    shell(`npm run --silent admin -- ${command}`, { SERVICE_URL: service.url }).then((text) => text.trim());
  const id = 7;
  await admin(`account create ${id} --name Leaving --permission feed --permission monit`);
  const key = await admin(`app-key issue --account ${id}`);
  const leaving = createClient({ url: service.url, appKey: key });
  const alert = { kind: 'alert', alert_key: 'leaving', title: 'Of the account that leaves' } as const;
  const send = () => leaving.sendRecords({ records: [alert] });
  await until('a record is taken', () => send().catch(() => false as const));
  await until('its alert is listed', async () => (await admin(`alert list --account ${id}`)).includes(alert.title));
  assert.match(await admin(`account erase ${id} --yes`), /^Account 7 is erased: \d+ rows and 0 refused messages\./);
  await assert.rejects(send, { status: 401 });
  assert.ok(!(await admin('account list --json')).includes('Leaving'));
  assert.equal(await admin(`account create ${id} --name Again || echo refused`), 'refused');
  assert.ok((await admin(`audit --account ${id}`)).includes('account erase'));
  assert.equal(await admin('check'), 'No problems found.');
  reportDone('the erasure of an account');
}

async function spendTheDay(): Promise<void> {
  await sendMergeAndUndo();
  await endByKey();
  await sendAndReadByCommand();
  await receiveFromAlertmanagers();
}

await Promise.all([spendTheDay(), eraseAccount(), endBySilence()]);
