/** Each alarm of the template has a runbook in docs/runbook.md, which looks for what the code logs. */
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { synthesize } from '../../packages/local/synthesize.ts';
import { resourcesOf } from '../../packages/local/template.ts';
import { deployed } from '../infra/stack.ts';
import { VAULT } from '../infra/templates.ts';
import { textOf } from '../support/documents.ts';

const [, alarms = ''] = /\n## Alarms\n(.*?)\n## /s.exec(textOf('docs/runbook.md')) ?? [];
const [, ...rest] = alarms.split(/^### /m);
const sections = new Map(
  rest.map((section) => {
    const [heading = '', ...lines] = section.split('\n');
    return [heading.toLowerCase().replaceAll(' ', '-'), lines.join('\n')];
  }),
);

const US = { account: '123456789012', region: 'us-east-1' };
const TWO_REGIONS = { replicaRegions: 'eu-west-1', regionDigit: '1' };
const template = deployed();
/** The descriptions of the alarms that notify somebody: parts of a composite alarm notify nobody. */
const descriptions = [template, synthesize({ backupVaultArn: VAULT }), synthesize(TWO_REGIONS, { env: US })]
  .flatMap((stack) => ['Alarm', 'CompositeAlarm'].map((type) => resourcesOf(stack, `AWS::CloudWatch::${type}`)))
  .flatMap((found) => Object.values(found))
  .map(({ Properties }) => String(Properties.AlarmDescription))
  .filter((text) => !text.startsWith('Part of '));

it('every alarm leads to a section, and every section has an alarm', () => {
  const anchors = descriptions.map((text) => /What to do: docs\/runbook\.md#(\S+)$/.exec(text)?.[1]);
  expect([...new Set(anchors)].sort()).toEqual([...sections.keys()].sort());
});

it('they look for log lines that the code writes', () => {
  const messages = [...alarms.matchAll(/^lines 'message = "(.*?)"' /gm)].map(([, message = '']) => message);
  expect(messages).toHaveLength(5);
  const source = globSync('lib/**/*.ts').map((path) => readFileSync(path, 'utf8'));
  for (const message of messages) expect(source.join('\n')).toMatch(new RegExp(`\\('${message}', \\{`));
});
