/** The templates of `examples/feed`, with the events that AWS documents. */
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
