/** Walks the restore procedure of docs/restore.md word for word, on a table that a restore could have made. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { Endpoint } from '../../../../lib/aws/endpoint.ts';
import type { Table } from '../../../../lib/table/client.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { SEED, seededRandom } from '../../../../test/support/chance.ts';
import { textOf } from '../../../../test/support/documents.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { listen } from '../../../../test/support/listen.ts';
import { everythingIn, put, stored } from '../../../../test/support/service.ts';
import { enterFakeAws } from '../support/aws.ts';
import { accountLine, lines } from '../support/data-lines.ts';
import { createReplica, createReplication } from '../support/replicas.ts';
import { type AdminOptions, runCommand } from '../support/run-admin.ts';
import { steady, stepsOf, walk } from '../support/walk.ts';

const steps = stepsOf(textOf('docs/restore.md'));
const ACCOUNT = 7;
const [INCIDENT, ALERT, OTHER] = ['a'.repeat(24), 'b'.repeat(24), 'c'.repeat(24)];

await enterFakeAws();
// DynamoDB Local itself keeps the tables of regions apart.
for (const service of ['DYNAMODB', 'DYNAMODB_STREAMS'])
  vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, new Endpoint(dynamodbEndpoint()).url);

/** Replaces what differs from run to run. */
const steadily = (output: string) =>
  steady(output)
    .replace(/^This writes to .*\n/m, '')
    .replace(/\b[0-9a-f]{24}\b/g, '<id>')
    .replace(/account \d+/g, 'account <account>');

describe('restoring to a point in time, as in docs/restore.md', () => {
  const source = `test-${randomUUID()}`;
  const restored = `${source}-restored`;
  let table: Table;
  let central: Table;
  let walked: Awaited<ReturnType<typeof walk>>;
  beforeAll(async () => {
    const west = await createReplica(restored, 'eu-west-1');
    const replica = await createReplica(restored, 'eu-central-1');
    [table, central] = [west.table, replica.table];
    const { replicate } = createReplication([west, replica], seededRandom(SEED));
    const replicating = await listen(createServer((_request, response) => void replicate().then(() => response.end())));
    const admin = (args: string, options?: AdminOptions) =>
      runCommand([...args.split(' '), '--table', restored, '--region', 'eu-west-1', '--yes'], options);
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
          .replaceAll('sleep 20', 'true')
          .replace('admin -- "$@"', 'admin -- "$@" --yes')
          // The new replica gets all rows.
          .replace(/^(on_restored .* --replica-updates .*)$/m, `$1; command curl -sS http://127.0.0.1:${replicating}`)
          .replace(/^npm run smoke -- (.*?) +#.*$/m, 'echo npm smoke $1 >&3'),
      env: {},
    });
  });

  it.each(steps.map(({ commands, output }, index) => ({ command: commands.split('\n')[0], output, index })))(
    '$command',
    ({ output, index }) => expect(steadily(walked.printed[index] ?? '')).toBe(steadily(output)),
  );

  it('moves the alert that the restore had not moved', async () => {
    expect(await stored(table, keys.alert(ACCOUNT, ALERT))).toMatchObject({ incident_id: INCIDENT });
  });

  it('gives the second region all of it', async () => {
    expect(await everythingIn(central)).toBe(await everythingIn(table));
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
        `aws dynamodb update-table ${ofRestored}--replica-updates `,
        `aws dynamodb describe-table ${ofRestored}`,
        `aws dynamodb update-table ${ofRestored}`,
        `aws dynamodb update-continuous-backups ${ofRestored}`,
        `aws dynamodb describe-table ${ofRestored}`,
        `git commit .*${restored} cdk.json$`,
        'npx cdk deploy -c stackName=IncidentMonitoringRumStandby --parameters AdoptedTable=STREAM$',
      ].map((call) => expect.stringMatching(`^${call}`)),
    );
  });
});
