/** Each alarm of the template has a runbook, and each runbook of docs/operate.md works word for word. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { enterFakeAws } from '../../packages/admin/test/support/aws.ts';
import { steady, stepsOf, walk } from '../../packages/admin/test/support/walk.ts';
import { synthesize } from '../../packages/local/synthesize.ts';
import { resourcesOf } from '../../packages/local/template.ts';
import { deployed } from '../infra/stack.ts';
import { VAULT } from '../infra/templates.ts';
import { textOf } from '../support/documents.ts';

const [, alarms = ''] = /\n## Alarms\n(.*?)\n## /s.exec(textOf('docs/operate.md')) ?? [];
const [introduction = '', ...rest] = alarms.split(/^### /m);
const sections = new Map(
  rest.map((section) => {
    const [heading = '', ...lines] = section.split('\n');
    return [heading.toLowerCase().replaceAll(' ', '-'), lines.join('\n')];
  }),
);

const template = deployed();
/** The descriptions of the alarms that notify somebody: parts of a composite alarm notify nobody. */
const descriptions = [template, synthesize({ backupVaultArn: VAULT })]
  .flatMap((stack) => ['Alarm', 'CompositeAlarm'].map((type) => resourcesOf(stack, `AWS::CloudWatch::${type}`)))
  .flatMap((found) => Object.values(found))
  .map(({ Properties }) => String(Properties.AlarmDescription))
  .filter((text) => !text.startsWith('Part of '));

it('every alarm leads to a section, and every section has an alarm', () => {
  const anchors = descriptions.map((text) => /What to do: docs\/operate\.md#(\S+)$/.exec(text)?.[1]);
  expect([...new Set(anchors)].sort()).toEqual([...sections.keys()].sort());
});

const REQUEST_ID = '9c29ccd0-8a26-4dba-b194-9e140490c3c1';
/** A line of each log group that the runbooks look at. */
const LINES: Readonly<Record<string, Record<string, unknown>>> = {
  access: { request_id: REQUEST_ID, status: '503', resource: '/monit/servicemap/fleet' },
  'browse-fleet': {
    ...{ level: 'WARN', message: 'call failed', request_id: REQUEST_ID, cause: 'throttled' },
    error_name: 'ThrottlingException',
  },
  'finish-merges': {
    ...{ level: 'ERROR', message: 'merge not finished', account_id: 42, incident_id: '64f000000000000000000001' },
    ...{ sequence: 1_795_000_000_000, error_name: 'AlertsTooLargeError' },
  },
  'ingest-records': {
    ...{ level: 'WARN', message: 'ingest failed', message_id: randomUUID(), receives: 2 },
    ...{ error_name: 'AccessDeniedException', records: 3 },
  },
  relay: { level: 'ERROR', message: 'record cannot be relayed', error_name: 'TypeError' },
  'usage-key-authorizer': { level: 'WARN', message: 'app key lookup failed', error_name: 'TimeoutError' },
};

describe('the runbooks', async () => {
  const logs = Object.keys(template.Outputs ?? {}).filter((name) => name.endsWith('Logs'));
  const nameOf = (output: string) =>
    output.replace(/Logs$/, '').replace(/[A-Z]/g, (letter, index) => `${index ? '-' : ''}${letter.toLowerCase()}`);
  const groups = Object.fromEntries(logs.map((name) => [name, nameOf(name)]));
  const outputs = { TableName: 'table', AccountPlanId: 'plan', ...groups };
  const aws = await enterFakeAws({ name: 'IncidentMonitoringRum', outputs });
  aws.replies.FilterLogEvents = ({ logGroupName, filterPattern }) => {
    const line = LINES[String(logGroupName)] ?? {};
    const [, field = '', value = ''] = /^\{ \$\.(\w+) = (".*") \}$/.exec(String(filterPattern)) ?? [];
    const event = { timestamp: Date.UTC(2026, 10, 21, 9), message: JSON.stringify(line) };
    return { events: line[field] === JSON.parse(value) ? [event] : [] };
  };

  it('have commands that all succeed, with the output that they show', async () => {
    const steps = stepsOf(`${introduction}${[...sections.values()].join('\n')}`);
    expect(steps).toHaveLength(6);
    const { printed, exitCode } = await walk(steps, {
      adapt: (script) => `set -e -o pipefail\n${script}`,
      env: { AWS_REGION: 'eu-west-1', DYNAMODB_ENDPOINT: undefined },
    });
    const shown = (outputs: string[]) => steps.map(({ commands }, index) => [commands, steady(outputs[index] ?? '')]);
    expect([exitCode, shown(printed)]).toEqual([0, shown(steps.map(({ output }) => output))]);
  });
});
