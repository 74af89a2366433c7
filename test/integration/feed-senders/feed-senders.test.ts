/**
 * The configurations of docs/senders.md: what their senders send is taken. `recorded/` has their requests, each with its source. A body is shown
 * before its encoding.
 */
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { recordOf } from '../../../lib/ingest/records.ts';
import { operations } from '../../../lib/operations/index.ts';
import { DEMO_KEYS } from '../../../packages/local/sample.ts';
import { newCaller } from '../../support/accounts.ts';
import { textOf } from '../../support/documents.ts';
import { keepingQueue } from '../../support/ingest.ts';
import { callAlone, createHandlers, NOW, newDouble, testDeps } from '../../support/service.ts';

interface Recorded {
  /** The file with the configuration. */
  sender: string;
  source: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}
const FOLDER = `${import.meta.dirname}/recorded`;
const recorded = (name: string): Recorded => JSON.parse(readFileSync(`${FOLDER}/${name}.json`, 'utf8'));
const names = globSync(`${FOLDER}/*.json`).map((file) => basename(file, '.json'));

const table = newDouble();
const { account, appKey } = await newCaller(table, { account_id: 1 });
const clock = { now: NOW };
const { sent, ingestQueue } = keepingQueue();
const handlers = createHandlers(testDeps(table, { now: () => clock.now }), { ingestQueue });

/** Sends a request, as it came to the recording server. @returns the answer, and the records that the feed gets */
async function replay({ path, headers, body }: Recorded) {
  clock.now += 60_000; // another window of the account's budget
  const operation = operations.find((listed) => listed.path === path) ?? expect.fail(path);
  const rawBody = headers['Content-Encoding'] === 'gzip' ? gzipSync(body) : body;
  const answer = await callAlone(handlers, operation, { appKey, headers, rawBody });
  const records = sent.splice(0).map((line) => {
    const taken = recordOf(line, { sentMs: clock.now, messageId: 'm', line: 1 });
    return 'record' in taken ? taken.record.sent : expect.fail(JSON.stringify(taken));
  });
  return { data: answer.body.data, records };
}

const CRASH = {
  alert_key: 'alertmanager 7d86ebb868744dbc',
  title: 'Pod is crash looping.',
  labels: expect.objectContaining({ namespace: 'shop', reason: 'CrashLoopBackOff' }),
};
const TWO = [
  { kind: 'host_status', host_id: 'fra-1-edge-0001', node_count: 12 },
  { kind: 'alert', alert_key: 'disk db-7', alert_status: 'Ok', title: 'Disk "7" 🔥\\n' },
];

/** What becomes of each request. */
const TAKEN: Readonly<Record<string, { records: object[]; refused?: object[] }>> = {
  'alertmanager-firing': { records: [{ ...CRASH, alert_status: 'Warning' }] },
  'alertmanager-resolved': { records: [{ ...CRASH, alert_status: 'Ok' }] },
  'alertmanager-0.35': { records: [{ ...CRASH, alert_status: 'Ok' }] },
  grafana: {
    records: [
      { alert_key: 'alertmanager c6eadffa33fcdf37', title: 'This alert was triggered for zone us-1' },
      {
        alert_key: 'alertmanager bc97ff14869b13e3',
        labels: { alertname: 'High CPU usage', team: 'blue', zone: 'eu-1' },
      },
    ],
  },
  'syslog-ng': {
    records: [
      { alert_key: 'syslog vm disk', alert_status: 'Critical', title: '98 % used "\\" é\\xff\u0001 end' },
      { alert_key: 'syslog vm net', alert_status: 'Warning', title: 'x😀' },
      // A text is cut between two bytes of a character.
      { alert_key: 'syslog vm big', title: `${'ü'.repeat(200)}a${'ü'.repeat(39)}\\xc3` },
    ],
    refused: [{ index: 3, reason: expect.stringMatching(/^title must be a string of 1 to 512/) }],
  },
  telegraf: {
    records: [
      { kind: 'host_status', host_id: 'fra-1-edge-0001', node_count: 12, edge_count: 18 },
      { kind: 'host_status', host_id: 'höst "2"', node_count: 0, edge_count: 0 },
    ],
    refused: [{ index: 2, reason: expect.stringMatching(/^host_id is required/) }],
  },
  vector: { records: TWO },
  'fluent-bit': { records: TWO },
};

it.each(names)('what %s sends is taken', async (name) => {
  const request = recorded(name);
  const key = request.sender === 'docs/senders.md' ? DEMO_KEYS.demo : 'KEY';
  expect(textOf(request.sender)).toContain(`${request.path}?app_key=${key}`);
  const { data, records } = await replay(request);
  const { records: expected = [], refused } = TAKEN[name] ?? {};
  expect(records).toMatchObject(expected.map((record) => ({ account_id: account, ...record })));
  expect(data).toEqual({
    accepted: expected.length,
    ...(refused && { refused, refused_count: refused.length }),
  });
});

it("Alertmanager's largest notification of alerts of 1.3 KB fits", async () => {
  const [, max] = /max_alerts: (\d+)/.exec(textOf('docs/senders.md')) ?? [];
  const request = recorded('alertmanager-firing');
  const notification = JSON.parse(request.body);
  const [alert] = notification.alerts;
  // The alerts of kube-prometheus have up to 1.3 KB: this one is filled up.
  const filler = 'x'.repeat(1_300 - JSON.stringify(alert).length);
  expect(JSON.stringify(alert).length).toBeGreaterThan(1_000);
  const alerts = Array.from({ length: Number(max) }, (_, index) => ({
    ...alert,
    annotations: { ...alert.annotations, filler },
    fingerprint: index.toString(16).padStart(16, '0'),
  }));
  const body = JSON.stringify({ ...notification, alerts, truncatedAlerts: 3_000 });
  const { data, records } = await replay({ ...request, body });
  expect(data).toEqual({ accepted: Number(max) });
  expect(new Set(records.map((record) => 'alert_key' in record && record.alert_key)).size).toBe(Number(max));
});
