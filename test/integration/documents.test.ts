/**
 * Every command that a document shows works. Those of docs/operate.md and the calls of the README have tests of their own. Commands that
 * need AWS or take a whole run are checked without running them.
 */
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { DEMO_KEYS, sampleData } from '../../infra/generate/sample.ts';
import { readDeploymentSettings } from '../../infra/stack-settings.ts';
import type { Table } from '../../lib/dynamodb/client.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { loadData } from '../../packages/admin/data/load.ts';
import { createLocalGatewayKeys } from '../../packages/admin/local-service/local-gateway-keys.ts';
import { ACME, adminOn, KEY_ID, makeAcme } from '../../packages/admin/test/support/acme.ts';
import { startFakeAws } from '../../packages/admin/test/support/aws.ts';
import { awsProblem } from '../../packages/admin/test/support/aws-cli.ts';
import { commandNames, runCommand } from '../../packages/admin/test/support/run-admin.ts';
import { readArguments } from '../../packages/bench/bench-arguments.ts';
import { REQUIREMENTS } from '../../packages/conformance/src/sections/index.ts';
import { type LocalService, startService } from '../../packages/local/local-service.ts';
import { synthesize } from '../../packages/local/synthesize.ts';
import { start } from '../../packages/local/test/support/start-service.ts';
import { documentedLines } from '../support/data-format.ts';
import { blockLines, codeSpans, documents, isCommand, textOf, wordsOf } from '../support/documents.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { newTable } from '../support/service.ts';
import { stepsOf, walk } from '../support/walk.ts';
import { whileBusy } from '../support/while-busy.ts';

const root = new URL('../../', import.meta.url);
const STREAM_ARN = 'arn:aws:dynamodb:eu-west-1:123456789012:table/t/stream/2026-11-21T00:00:00.000';

/** Documents with blocks of commands. This test or one of their own runs the blocks, but for that of docs/feed.md, which needs AWS. */
const WALKED = ['README.md', 'docs/deploy.md', 'docs/feed.md', 'docs/operate.md', 'docs/reliability.md'];

/** Commands that take a whole run: the gate or a user runs them. Their scripts or files must exist. */
const WHOLE_RUNS = [
  'npm ci && npm start',
  'npm ci && npm test',
  'npm ci',
  'npm start',
  'npm test',
  'npm run synth',
  'npm run bench',
  'npm run certify',
  'npm run smoke',
  'npm run generate',
  'npm run fix',
  'npm run test:unit',
  'npm run check',
  'npm run test:releases',
  'npm run test:certificate',
  'npm run test:mutants',
  'npm run prove',
  'npm run test:mutation',
  'npm run test:faults',
  'npm run test:browser',
  'npm run test:browser -- --pictures',
  'npm start -- --watch', // packages/local/test/integration/watch
  'npm start -- --inspect', // packages/local/test/integration/watch
  'bash .ci/run',
  'npm run prove -- --form short',
  'npm run prove:mutants',
  'npm test -- test/unit/validation',
  'npm test -- test/integration/delete-work-item',
  'npm test -- test/infra',
  'npm test -- packages/admin',
  'npm test -- test/integration/documents',
];

/** Commands that need an AWS account. */
const NEEDS_AWS = [
  'npx cdk bootstrap',
  'npx cdk deploy',
  'npx cdk destroy',
  'npx cdk deploy -c apiGatewayAccount=false',
  'npx cdk deploy -c writesFrozen=true',
  'npx cdk watch',
  'npx cdk deploy -c logRetentionDays=90',
  'npx cdk deploy -c adoptTable="$STREAM"',
  '-c rollout=canary',
  '-c rollout=canary-forced',
  'npx cdk deploy -c stackName=Staging -c apiGatewayAccount=false',
  'npx cdk deploy -c stackName=Preview-17 -c ephemeral=true -c apiGatewayAccount=false',
  'aws apigateway get-account',
  'aws cloudformation describe-stacks --stack-name IncidentMonitoringRum --query "Stacks[0].Outputs[?OutputKey==\'TableName\'].OutputValue" --output text',
  'aws dynamodb restore-table-to-point-in-time --source-table-name "$TABLE" --target-table-name "$TABLE-restored" --restore-date-time 2026-11-21T09:00:00Z',
  'aws dynamodb update-table --table-name "$TABLE-restored" --deletion-protection-enabled --stream-specification StreamEnabled=true,StreamViewType=NEW_IMAGE',
  'aws dynamodb update-time-to-live --table-name "$TABLE-restored" --time-to-live-specification Enabled=true,AttributeName=ttl',
  'aws dynamodb update-continuous-backups --table-name "$TABLE-restored" --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true',
  'aws dynamodb describe-table --table-name "$TABLE-restored" --query Table.LatestStreamArn --output text',
  'aws dynamodb update-table --table-name "$TABLE" --no-deletion-protection-enabled',
  'aws dynamodb delete-table --table-name "$TABLE"',
  'aws sqs send-message --queue-url "$FEED_URL" --message-group-id 1 --message-body file://records.ndjson',
  'aws dynamodb describe-table --table-name "$TABLE" --query Table.LatestStreamArn --output text',
];

/** Texts between backticks that look like commands and are none: log messages and causes of failures. */
const NO_COMMANDS = ['call failed', 'no reply'];

const folder = mkdtempSync(join(tmpdir(), 'documents-'));
const dataFile = join(folder, 'data.ndjson');
writeFileSync(dataFile, documentedLines().join('\n'));

/** Values for the placeholders of the documents. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  A: String(ACME),
  NAME: 'Acme',
  ID: KEY_ID,
  FILE: dataFile,
  PART: 'inventory',
  REV: 'HEAD',
  N: '1',
};
const argumentsOf = (line: string) => wordsOf(line).map((word) => PLACEHOLDERS[word] ?? word);

/** The commands that the documents show: of `NAME=$(command)` the command; of blocks that are run only what needs AWS. */
const shown = [
  ...new Set(
    documents.flatMap(({ path, text }) => [
      ...codeSpans(text).filter(isCommand),
      ...blockLines(text)
        .map((line) => /^\w+=\$\((.*)\)$/.exec(line)?.[1] ?? line)
        .filter((line) => /^(aws|npx) /.test(line) || !WALKED.includes(path)),
    ]),
  ),
];
const beginning = (pattern: RegExp) => shown.flatMap((line) => (pattern.test(line) ? [line] : []));
const adminLines = beginning(/^npm run (--silent )?admin\b/);
const startLines = beginning(/^npm start -- /).filter((line) => !WHOLE_RUNS.includes(line));
const smokeLines = [
  ...new Set(beginning(/^(APP_KEY=… )?npm run smoke -- /).map((line) => line.replace('APP_KEY=… ', ''))),
];
const benchLines = beginning(/^npm run bench -- /);
const optionLines = beginning(/^--/).filter((line) => !NO_COMMANDS.includes(line));
/** Commands of the operator that are only named, such as `account list`, `admin audit` or `admin import --help`. */
const namedCommands = beginning(/^(admin |[a-z-]+ [a-z-]+)/).filter(
  (line) => !/^(npm|npx|aws|bash|cdk|-\S+) /.test(line) && !NO_COMMANDS.includes(line),
);

let table: Table;
let service: LocalService;
let aws: Awaited<ReturnType<typeof startFakeAws>>;
let leave: () => void;
beforeAll(async () => {
  table = await newTable();
  const gatewayKeys = createLocalGatewayKeys(table);
  await loadData(table, 'sample', sampleData(Date.now()), { nowSeconds: Math.floor(Date.now() / 1000), gatewayKeys });
  aws = await startFakeAws({
    name: 'IncidentMonitoringRum',
    outputs: { TableName: table.name, AccountPlanId: 'plan', AccessLogs: 'access' },
  });
  await makeAcme(table);
  leave = aws.enter();
  service = await startService({
    template: inject('template'),
    endpoint: dynamodbEndpoint(),
    tableName: table.name,
    port: 0,
  });
});
afterAll(async () => {
  leave();
  aws.close();
  await service.stop();
});

const again = whileBusy();
/** Sends a call, and again while the rate limit of the fleet or a busy machine refuses it. */
async function send(path: string, body: string, query = `?app_key=${DEMO_KEYS.demo}`) {
  for (;;) {
    const headers = { 'Content-Type': 'application/json' };
    const response = await again(() => fetch(`${service.url}${path}${query}`, { method: 'POST', headers, body }));
    const text = await response.text();
    if (response.status !== 429) return { status: response.status, text };
    await sleep(1_000 * Number(response.headers.get('retry-after')));
  }
}

it('every command is run, or listed as one that cannot be', () => {
  const known = new Set([
    ...[WHOLE_RUNS, NEEDS_AWS, NO_COMMANDS, adminLines, startLines, benchLines, optionLines, namedCommands].flat(),
    ...smokeLines.flatMap((line) => [line, `APP_KEY=… ${line}`]),
  ]);
  expect(shown.filter((line) => !known.has(line))).toEqual([]);
  const blocks = documents.flatMap(({ text }) => blockLines(text));
  for (const line of [...WHOLE_RUNS, ...NEEDS_AWS, ...NO_COMMANDS])
    expect([line, shown.includes(line) || blocks.includes(line)]).toEqual([line, true]);
  expect(
    documents
      .filter(({ text }) => text.includes('```sh\n'))
      .map(({ path }) => path)
      .sort(),
  ).toEqual([...WALKED].sort());
});

it('every link leads to a file, and to a heading that it has', () => {
  const anchorsOf = (path: string) =>
    [...readFileSync(new URL(path, root), 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );
  const broken = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#?([^)\s]*)(?: "[^"]*")?\)/g)].flatMap(([, file = '', anchor = '']) => {
      const target = file === '' ? path : join(dirname(path), file);
      const found = existsSync(new URL(target, root)) && (anchor === '' || anchorsOf(target).includes(anchor));
      return found ? [] : [`${path}: ${file}#${anchor}`];
    }),
  );
  expect(broken).toEqual([]);
});

it('no document pipes the output of npm run without --silent, since it begins with a banner', () => {
  for (const { text } of documents)
    expect(text.match(/npm run (?!--silent)[^`\n]*\|(?!\|)[^`\n]*npm run/g) ?? []).toEqual([]);
});

describe('a command of the operator', () => {
  it.each(adminLines.filter((line) => !NEEDS_AWS.includes(line)))('%s', async (line) => {
    const args = argumentsOf(line.replace(/^npm run (--silent )?admin( -- )?/, ''));
    const { exitCode, err, out } = await adminOn(table)(args);
    if (args.length === 0) expect([exitCode, err + out]).toEqual([2, expect.stringContaining('Usage: ')]);
    else expect([exitCode, exitCode === 0 ? '' : err]).toEqual([0, '']);
  });

  it.each(namedCommands)('%s exists', async (line) => {
    const words = line.split(' ').filter((word) => word !== 'admin' && word !== '--help');
    expect(commandNames.map((name) => name.join(' '))).toContain(words.join(' '));
  });
});

describe('npm', () => {
  it.each(WHOLE_RUNS)('%s has its script', (line) => {
    const [, script, file] = /(?:npm (?:run )?((?!ci\b)[\w:]+)|bash (\S+))(?: --.*)?$/.exec(line) ?? [];
    const [, workspace] = / -w (\S+)$/.exec(line) ?? [];
    if (workspace) expect(existsSync(new URL(`${workspace}/package.json`, root))).toBe(true);
    else if (file) accessSync(new URL(file, root), constants.X_OK);
    else if (line !== 'npm ci') expect(Object.keys(packageJson.scripts)).toContain(script);
  });

  it.each(benchLines)('%s names existing benchmarks', (line) => {
    expect(readArguments(argumentsOf(line.replace('npm run bench -- ', ''))).suites).not.toEqual([]);
  });

  it('npm start takes all options of the documents together', async () => {
    expect(startLines.length).toBeGreaterThan(2);
    const args = startLines.flatMap((line) => argumentsOf(line.replace('npm start -- ', '')));
    const { ended, output, child, errors } = await start(['--port', '0', ...args.filter((word) => word !== '--help')], {
      DYNAMODB_ENDPOINT: dynamodbEndpoint(),
    });
    child.kill('SIGTERM');
    expect([await ended, errors()]).toEqual([0, '']);
    expect(output()).toContain(`Loaded ${dataFile}: 1 account, `);
    for (const failure of ['live-status', 'inventory'])
      expect(output()).toMatch(new RegExp(`^Failing +${failure}: `, 'm'));
  });
});

describe('options', () => {
  it('that the documents name exist', async () => {
    const [admin, starting, certifying] = await Promise.all([
      Promise.all(commandNames.map((name) => runCommand([...name, '--help']))),
      start(['--help']).then(({ ended, output }) => ended.then(output)),
      walk([{ commands: 'npm run certify -- --help', output: '' }], { env: {} }).then(({ printed }) => printed.join()),
    ]);
    const helps = [...admin.map(({ out }) => out), starting, certifying].join('\n');
    const proving = readFileSync(new URL('packages/proof/simulation/prove.ts', root), 'utf8');
    const generating = readFileSync(new URL('.ci/generators/run.ts', root), 'utf8');
    for (const line of optionLines) {
      const [option = ''] = line.split(' ');
      if (option === '--turns') expect(readArguments(['--turns', '1']).turns).toBe(1);
      // Runs of these take minutes: their options are looked for in their sources.
      else if (option === '--default-non-nullable') expect(generating).toContain(line);
      else if (option === '--form') expect(proving).toMatch(/\bform: \{ type: 'string'/);
      else expect(helps).toMatch(new RegExp(`${option}\\b`));
    }
  });

  it('--only is shown with existing numbers of sections and requirements', () => {
    const numbers = REQUIREMENTS.flatMap(({ number }) => [number, number.split('-')[0]]);
    const [only = ''] = optionLines.filter((line) => line.startsWith('--only '));
    expect(wordsOf(only).length).toBeGreaterThan(1);
    for (const number of wordsOf(only).slice(1)) expect(numbers).toContain(number);
  });
});

describe('on AWS', () => {
  it.each(shown.filter((line) => line.startsWith('aws ')))('%s is a command of the AWS CLI', (line) => {
    expect(awsProblem(wordsOf(line))).toBeUndefined();
  });

  it('the stack reads and accepts every context value, and the document has every setting', () => {
    const settings = new Set<string>();
    readDeploymentSettings({ tryGetContext: (name) => void settings.add(name) });
    const contexts = shown
      .map((line) => [...line.matchAll(/-c (\w+)=(\S+)/g)])
      .filter((given) => given.length > 0)
      .map((given) =>
        Object.fromEntries(given.map(([, name = '', value = '']) => [name, value.replace('"$STREAM"', STREAM_ARN)])),
      );
    expect(contexts.length).toBeGreaterThan(3);
    for (const context of contexts) {
      expect(Object.keys(context).filter((name) => !settings.has(name))).toEqual([]);
      expect(synthesize(context).Resources).not.toEqual(inject('template').Resources);
    }
    const table = textOf('docs/deploy.md').split('## Settings')[1]?.split('\n## ')[0] ?? '';
    const documented = [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) => codeSpans(cell));
    expect(new Set(documented)).toEqual(settings);
  });
});

describe('README.md', () => {
  it('shows the failure of a call without a key', async () => {
    const failure = [...textOf('README.md').matchAll(/```json\n(.*"error".*)\n```/g)][0]?.[1] ?? '';
    expect(JSON.parse((await send('/rum/resource/info', '{}', '')).text).error).toEqual(JSON.parse(failure).error);
  });
});

describe('docs/api.md', () => {
  const bodies = [...textOf('docs/api.md').matchAll(/^## [^\n]*`(\/[^`]+)`\n.*?(?=^## )/gms)].flatMap(
    ([section, path = '']) => [...section.matchAll(/```json\n(.*?)\n```/gs)].map(([, body = '']) => ({ path, body })),
  );

  it('shows a body for three operations', () => {
    expect(bodies.map(({ path }) => path)).toEqual([
      '/monit/servicemap/fleet',
      '/incident/work-item/delete',
      '/alert/merge',
    ]);
  });

  it.each(bodies)('$path takes $body', async ({ path, body }) => {
    expect(await send(path, body)).toMatchObject({ status: 200 });
  });

  it('shows a client that lists the stale hosts', async () => {
    const [, code = ''] = /```ts\n(.*?)```/s.exec(textOf('docs/api.md')) ?? [];
    // The package is built where it is packed: here its sources stand for it.
    const client = new URL('packages/client/src/index.ts', root);
    const file = join(folder, 'client.mjs');
    writeFileSync(
      file,
      `import { createClient } from '${client}';\n${code.replace('http://127.0.0.1:3000', service.url)}`,
    );
    const { printed } = await walk([{ commands: `'${process.execPath}' '${file}'`, output: '' }], {
      env: { APP_KEY: DEMO_KEYS.demo },
    });
    expect(printed[0]?.trim().split('\n').length).toBeGreaterThan(5);
    expect(printed[0]).toMatch(/^((fra|iad|nrt|sin|gru)-\d-\w+-\d{4}\n)+$/);
  });

  it.each(smokeLines)('%s', async (line) => {
    const commands = `${line.replace('URL', service.url)} || echo exit code $?`;
    const { printed } = await walk([{ commands, output: '' }], { env: { APP_KEY: DEMO_KEYS.demo } });
    expect(printed[0]).toMatch(/\n\d+ of \d+ rules shown: \d+ ok, 0 failed\. .*\n$/);
  });
});

describe('docs/data-format.md', () => {
  it('shows the errors of import for invalid lines', async () => {
    const [, problems = ''] = /```\n(hosts\.ndjson:2.*?\n)```/s.exec(textOf('docs/data-format.md')) ?? [];
    const host = { kind: 'host', account_id: 1, host_id: 'h', agent_version: '1', edge_cluster: 'c', enabled: true };
    const good = (id: number) => ({ ...host, host_id: `h${id}`, snapshot_ready: true });
    const { agent_version: _missing, ...wrong } = { ...good(2), report_interval_ms: 0 };
    const lines = [good(1), wrong, good(3), good(4), good(5), good(6), good(3)];
    const file = join(folder, 'hosts.ndjson');
    writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    const { err } = await adminOn(table)(['import', file]);
    expect(err.replaceAll(`${folder}/`, '')).toBe(problems);
  });
});

it('docs/reliability.md names existing tests', () => {
  const named = codeSpans(textOf('docs/reliability.md')).filter((span) =>
    /^(faults|infra|integration|unit)\/[\w-]+$/.test(span),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !existsSync(new URL(`test/${name}.test.ts`, root)))).toEqual([]);
});

describe('the certificate of docs/reliability.md', () => {
  it('is made for a service, with a new account', async () => {
    const text = textOf('docs/reliability.md');
    const [, excerpt = ''] = /```\n(4\.3.*?\n)```/s.exec(text) ?? [];
    const { printed, exitCode } = await walk(stepsOf(text), {
      adapt: (script) => `set -e -o pipefail\n${script.replace('http://127.0.0.1:3000', service.url)}`,
      env: {
        DYNAMODB_ENDPOINT: dynamodbEndpoint(),
        TABLE_NAME: table.name,
        CERTIFY_MORE: `--only ${excerpt.split(' ')[0]}`, // all of it takes minutes
      },
    });
    expect([exitCode, stripVTControlCharacters(printed[0] ?? '')]).toEqual([
      0,
      expect.stringContaining(excerpt.trim()),
    ]);
    expect(printed[0]).toMatch(/^1 of 1 rules shown: 1 ok, 0 failed\./m);
  });
});

describe('docs/deploy.md', () => {
  it('shows how to deploy, tear down and come back', async () => {
    aws.forget();
    await adminOn(table)(['gateway-keys', 'create', '--stack', 'IncidentMonitoringRum', '--region', 'eu-west-1']);
    aws.gateway.attached = [];
    const { printed, calls, exitCode } = await walk(stepsOf(textOf('docs/deploy.md')), {
      adapt: (script) => `set -e\nTABLE=${table.name} REGION=eu-west-1 URL=${service.url}\n${script}`,
      env: { ADMIN_MORE: '--yes', APP_KEY: DEMO_KEYS.demo },
    });
    expect([exitCode, printed.join('\n')]).toEqual([
      0,
      expect.stringMatching(/keys deleted\.\n[\s\S]*Gateway keys of .*exist\.\n/),
    ]);
    expect(aws.gateway.attached.length).toBeGreaterThan(0);
    expect(calls.map((call) => call.replace(table.name, 'TABLE'))).toEqual([
      'npm ci',
      'npx cdk bootstrap',
      'npm run synth',
      'npx cdk deploy',
      'npx cdk destroy',
      'aws dynamodb update-table --table-name TABLE --no-deletion-protection-enabled',
      'aws dynamodb delete-table --table-name TABLE',
      'aws dynamodb describe-table --table-name TABLE --query Table.LatestStreamArn --output text',
      expect.stringMatching(/^npx cdk deploy -c adoptTable=arn:aws:dynamodb:\S+$/),
    ]);
  });
});
