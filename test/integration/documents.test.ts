/**
 * Every command that a document shows works. Commands that need AWS or take long are checked without running them. Other tests run what
 * needs the service (`document-calls`), the blocks of docs/operate.md (`runbooks`, `restore-walk`) and the README's calls (`start`).
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { readDeploymentSettings } from '../../infra/stack-settings.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { ACME, adminOn, KEY_ID, makeAcme } from '../../packages/admin/test/support/acme.ts';
import { enterFakeAws } from '../../packages/admin/test/support/aws.ts';
import { awsProblem } from '../../packages/admin/test/support/aws-cli.ts';
import { commandNames, runCommand } from '../../packages/admin/test/support/run-admin.ts';
import { synthesize } from '../../packages/local/synthesize.ts';
import { start } from '../../packages/local/test/support/start-service.ts';
import { documentedLines } from '../support/data-format.ts';
import { blockLines, codeSpans, documents, isCommand, textOf, wordsOf } from '../support/documents.ts';
import { newTable } from '../support/service.ts';
import { walk } from '../support/walk.ts';

const root = new URL('../../', import.meta.url);
const STREAM_ARN = 'arn:aws:dynamodb:eu-west-1:123456789012:table/t/stream/2026-11-21T00:00:00.000';

/** Documents whose blocks of commands other tests run. */
const WALKED = ['README.md', 'docs/deploy.md', 'docs/feed.md', 'docs/operate.md', 'docs/reliability.md'];

/** Texts between backticks that look like commands but are log messages or causes of failures. */
const NO_COMMANDS = ['call failed', 'ingest failed', 'no reply'];

const folder = mkdtempSync(join(tmpdir(), 'documents-'));
const dataFile = join(folder, 'data.ndjson');
writeFileSync(dataFile, documentedLines().join('\n'));

/** Values for the placeholders of the documents. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  A: String(ACME),
  NAME: 'Acme',
  ID: KEY_ID,
  FILE: dataFile,
};
const argumentsOf = (line: string) => wordsOf(line).map((word) => PLACEHOLDERS[word] ?? word);

/** The commands that the documents show: `NAME=$(command)` counts as its command. Of blocks that other tests run, only what needs AWS. */
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
/** A command of each kind is checked in a way of its own. The first pattern that fits decides. */
const KINDS = {
  admin: /^npm run (--silent )?admin\b/,
  bench: /^npm run bench -- /,
  smoke: /^(APP_KEY=… )?npm run smoke -- /,
  start: /^npm start -- /,
  script: /^(npm|bash) /,
  aws: /^aws /,
  cdk: /^(npx cdk (bootstrap|deploy|destroy|watch)|-c )/,
  option: /^--/,
  /** A command of the operator that is only named, such as `account list` or `admin import --help`. */
  named: /^(admin |[a-z-]+ [a-z-]+)/,
} as const;
const kinds = Map.groupBy(
  shown.filter((line) => !NO_COMMANDS.includes(line)),
  (line) => Object.entries(KINDS).find(([, pattern]) => pattern.test(line))?.[0],
);
const shownOf = (kind: keyof typeof KINDS) => kinds.get(kind) ?? [];

const table = await newTable();
await makeAcme(table);
await enterFakeAws({
  name: 'IncidentMonitoringRum',
  outputs: { TableName: table.name, AccountPlanId: 'plan', AccessLogs: 'access' },
});

it('every command is of a kind that is checked', () => {
  expect(kinds.get(undefined) ?? []).toEqual([]);
  const withBlocks = documents.filter(({ text }) => text.includes('```sh\n')).map(({ path }) => path);
  expect(withBlocks.sort()).toEqual(WALKED);
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

describe('a command of the operator', () => {
  it.each(shownOf('admin'))('%s', async (line) => {
    const args = argumentsOf(line.replace(/^npm run (--silent )?admin( -- )?/, ''));
    const { exitCode, err, out } = await adminOn(table)(args);
    if (args.length === 0) expect([exitCode, err + out]).toEqual([2, expect.stringContaining('Usage: ')]);
    else expect([exitCode, exitCode === 0 ? '' : err]).toEqual([0, '']);
  });

  it.each(shownOf('named'))('%s exists', async (line) => {
    const words = line.split(' ').filter((word) => word !== 'admin' && word !== '--help');
    expect(commandNames.map((name) => name.join(' '))).toContain(words.join(' '));
  });
});

it.each(shownOf('script').flatMap((line) => line.split(' && ')))(
  '%s names a script, file or test that exists',
  (line) => {
    const [, script, file] = /^(?:npm (?:run )?([\w:]+)|bash (\S+))/.exec(line) ?? [];
    if (file) expect(existsSync(new URL(file, root))).toBe(true);
    else if (script !== 'ci') expect(Object.keys(packageJson.scripts)).toContain(script);
    const [, tests] = / -- ((?:test|packages)\/\S+)$/.exec(line) ?? [];
    if (tests) expect(readdirSync(new URL(`${dirname(tests)}/`, root)).join('\n')).toContain(basename(tests));
  },
);

it('every option exists', async () => {
  const helps = await Promise.all([
    ...commandNames.map((name) => runCommand([...name, '--help']).then(({ out }) => out)),
    start(['--help']).then(({ ended, output }) => ended.then(output)),
    walk([{ commands: 'npm run certify -- --help', output: '' }], { env: {} }).then(({ printed }) => printed.join()),
  ]);
  const lines = [...shownOf('option'), ...shownOf('start')];
  const options = lines.flatMap((line) => wordsOf(line).filter((word) => /^--\w/.test(word)));
  expect(options.length).toBeGreaterThan(10);
  expect(options.filter((option) => !helps.some((help) => help.includes(option)))).toEqual([]);
});

describe('on AWS', () => {
  it.each(shownOf('aws'))('%s is a command of the AWS CLI', (line) => {
    expect(awsProblem(wordsOf(line))).toBeUndefined();
  });

  it('the stack reads and accepts every context value, and the document has every setting', () => {
    const settings = new Set<string>();
    readDeploymentSettings({ tryGetContext: (name) => void settings.add(name) });
    const contexts = shown
      .map((line) => [...line.matchAll(/-c (\w+)=(\S+)/g)])
      .filter((matches) => matches.length > 0)
      .map((matches) =>
        Object.fromEntries(matches.map(([, name = '', value = '']) => [name, value.replace('"$STREAM"', STREAM_ARN)])),
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

it('docs/data-format.md shows the errors of import for invalid lines', async () => {
  const [, problems = ''] = /```\n(hosts\.ndjson:2.*?\n)```/s.exec(textOf('docs/data-format.md')) ?? [];
  const host = (id: number) => ({
    ...{ kind: 'host', account_id: ACME, host_id: `h${id}`, agent_version: '1', edge_cluster: 'c' },
    ...{ enabled: true, snapshot_ready: true },
  });
  const { agent_version: _missing, ...wrong } = { ...host(2), report_interval_ms: 0 };
  const lines = [host(1), wrong, host(3), host(4), host(5), host(6), host(3)];
  const file = join(folder, 'hosts.ndjson');
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  const { err } = await adminOn(table)(['import', file]);
  expect(err.replaceAll(`${folder}/`, '')).toBe(problems);
});

it('docs/reliability.md names existing tests', () => {
  const named = textOf('docs/reliability.md').match(/`(faults|infra|integration|schedules|unit)\/[\w-]+`/g) ?? [];
  expect(named.length).toBeGreaterThan(20);
  const isThere = (name: string) => existsSync(new URL(`test/${name.replaceAll('`', '')}.test.ts`, root));
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});
