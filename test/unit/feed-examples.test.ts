/** The examples of `examples/feed`, with the events that AWS and Prometheus document. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { recordOf } from '../../lib/ingest/records.ts';

/** CloudWatch User Guide, "Alarm events and EventBridge": sample event of a single-metric alarm in ALARM, shortened. */
const ALARM_EVENT = {
  version: '0',
  id: 'c4c1c1c9-6542-e61b-6ef0-8c4d36933a92',
  'detail-type': 'CloudWatch Alarm State Change',
  source: 'aws.cloudwatch',
  account: '123456789012',
  time: '2019-10-02T17:04:40Z',
  region: 'us-east-1',
  detail: { alarmName: 'ServerCpuTooHigh', state: { value: 'ALARM', timestamp: '2019-10-02T17:04:40.989+0000' } },
};

it('a CloudWatch alarm becomes an alert, the same however often its event comes', () => {
  const yaml = readFileSync('examples/feed/cloudwatch-alarms.yaml', 'utf8');
  const [, template = ''] = /InputTemplate: !Sub '(.*)'/.exec(yaml) ?? [];
  const paths = [...yaml.matchAll(/^ {14}(\w+): \$\.([\w.]+)$/gm)].map(([, name = '', path = '']) => [name, path]);
  const values = Object.fromEntries(paths) as Record<string, string>;
  const valueAt = (path: string) =>
    path.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], ALARM_EVENT);
  const body = template
    .replace('$' + '{AccountId}', '1')
    .replace(/<(\w+)>/g, (_whole, name: string) => JSON.stringify(valueAt(values[name] ?? '')));
  const sentMs = Date.parse(ALARM_EVENT.time) + 1_000;
  expect(recordOf(body, sentMs)).toMatchObject({
    record: {
      atMs: sentMs,
      entity: {
        kind: 'alert',
        account_id: 1,
        title: 'ServerCpuTooHigh',
        alert_id: expect.stringMatching(/^[0-9a-f]{24}$/),
      },
    },
  });
  expect(recordOf(body, sentMs)).toEqual(recordOf(body, sentMs));
});

/** Prometheus, "Alerting: configuration", `<webhook_config>`: version 4 of the payload, with the fields that are read. */
const notification = (status: string, alert: object) => ({
  version: '4',
  status,
  receiver: 'feed',
  alerts: [
    {
      status,
      labels: { alertname: 'ProbeFailure', instance: 'https://server.example.org', severity: 'critical' },
      annotations: { summary: 'BlackBox probe failure' },
      startsAt: '2026-02-06T13:08:45.828Z',
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: 'http://prometheus.example.org:9090/graph?g0.expr=probe_success+%3D%3D+0',
      fingerprint: '1a30ba71cca2921f',
      ...alert,
    },
  ],
});

it('an alert of Alertmanager becomes an alert, and its resolution a later title of the same', async () => {
  // A variable: the example is JavaScript, without types.
  const example = '../../examples/feed/alertmanager.mjs';
  const { recordsOf } = (await import(example)) as { recordsOf(notified: object, account: number): object[] };
  const sentMs = Date.parse('2026-02-06T14:00:00Z');
  const entityOf = (payload: object) => {
    const [record] = recordsOf(payload, 1);
    return recordOf(JSON.stringify(record), sentMs);
  };
  const firing = entityOf(notification('firing', {}));
  const resolved = entityOf(notification('resolved', { endsAt: '2026-02-06T13:30:00Z' }));
  const ids = [firing, resolved].map((one) => 'record' in one && one.record.entity.alert_id);
  expect(ids).toEqual([expect.stringMatching(/^[0-9a-f]{24}$/), ids[0]]);
  expect([firing, resolved]).toMatchObject([
    { record: { atMs: Date.parse('2026-02-06T13:08:45.828Z'), entity: { title: 'BlackBox probe failure' } } },
    { record: { atMs: Date.parse('2026-02-06T13:30:00Z'), entity: { title: 'BlackBox probe failure (resolved)' } } },
  ]);
});
