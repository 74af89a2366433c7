/** Walks the restore procedure of docs/operate.md word for word, on a table that a restore could have made. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { connectTable } from '../../../../lib/table/client.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { textOf } from '../../../../test/support/documents.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { put, stored } from '../../../../test/support/service.ts';
import { createTable } from '../../local-service/local-table.ts';
import { accountLine, lines } from '../support/data-lines.ts';
import { adminOf } from '../support/run-admin.ts';
import { steady, stepsOf, walk } from '../support/walk.ts';

const [, section = ''] = /## Restore to a point in time\n(.*?)\n## /s.exec(textOf('docs/operate.md')) ?? [];
const steps = stepsOf(section);
const ACCOUNT = 7;
const [INCIDENT, ALERT, OTHER] = ['a'.repeat(24), 'b'.repeat(24), 'c'.repeat(24)];

/** Replaces what differs from run to run. */
const steadily = (output: string) =>
  steady(output)
    .replace(/\b[0-9a-f]{24}\b/g, '<id>')
    .replace(/account \d+/g, 'account <account>');

describe('restoring to a point in time, as in docs/operate.md', () => {
  const source = `test-${randomUUID()}`;
  const restored = `${source}-restored`;
  const table = connectTable({ name: restored, endpoint: dynamodbEndpoint() });
  let walked: Awaited<ReturnType<typeof walk>>;
  beforeAll(async () => {
    await createTable(dynamodbEndpoint(), restored, { stream: false });
    const admin = adminOf(table);
    const ofAccount = { account_id: ACCOUNT, title: 't' };
    const stdin = lines(
      accountLine(ACCOUNT),
      { kind: 'incident', incident_id: INCIDENT, ...ofAccount },
      ...[ALERT, OTHER].map((alert_id) => ({ kind: 'alert', alert_id, ...ofAccount })),
    );
    expect(await admin('import -', { stdin })).toMatchObject({ exitCode: 0 });
    // The restored table has everything of a merge but the move of one alert.
    const key = keys.alert(ACCOUNT, ALERT);
    const before = await stored(table, key);
    await admin(`merge alerts ${INCIDENT} ${ALERT} ${OTHER} --account ${ACCOUNT}`);
    await put(table, key, before);
    walked = await walk(steps, {
      adapt: (script) =>
        `URL=https://example.com\n${script}`
          .replace(/^TABLE=.*$/m, `TABLE=${source}`)
          .replace('sleep 20', 'true')
          .replace(/^npm run smoke -- (.*?) +#.*$/m, 'echo npm smoke $1 >&3'),
      env: { AWS_REGION: undefined, DYNAMODB_ENDPOINT: dynamodbEndpoint() },
    });
  });

  it.each(steps.map(({ commands, output }, index) => ({ command: commands.split('\n')[0], output, index })))(
    '$command',
    ({ output, index }) => expect(steadily(walked.printed[index] ?? '')).toBe(steadily(output)),
  );

  it('moves the alert that the restore had not moved', async () => {
    expect(await stored(table, keys.alert(ACCOUNT, ALERT))).toMatchObject({ incident_id: INCIDENT });
  });

  it('restores to a new table, sets what a restore leaves out, and deploys with it', () => {
    const ofRestored = `--table-name ${restored} `;
    expect(walked.calls).toEqual(
      [
        'git commit .* cdk.json$',
        'npx cdk deploy --parameters WritesFrozen=true$',
        `aws dynamodb restore-table-to-point-in-time --source-table-name ${source} --target-table-name ${restored} `,
        ...Array(2).fill(`aws dynamodb describe-table ${ofRestored}`),
        `aws dynamodb update-table ${ofRestored}`,
        `aws dynamodb update-time-to-live ${ofRestored}`,
        `aws dynamodb update-continuous-backups ${ofRestored}`,
        `aws dynamodb describe-table ${ofRestored}`,
        `git commit .*${restored} cdk.json$`,
        'npx cdk deploy --parameters AdoptedTable=arn:aws:dynamodb:\\S+ --parameters WritesFrozen=false$',
        'npm smoke --url ',
      ].map((call) => expect.stringMatching(`^${call}`)),
    );
  });
});
