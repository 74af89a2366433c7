/** All commands on one account: the examples of the help, what the commands write, and that stored text has no effect on a terminal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import type { Table } from '../../../../lib/table/client.ts';
import { keys, parseKey } from '../../../../lib/table/keys.ts';
import { RUM_RECORD } from '../../../../test/support/accounts.ts';
import { wordsOf } from '../../../../test/support/documents.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { inventory, live } from '../../../../test/support/fleet.ts';
import { newTable, put, rowsIn, stored } from '../../../../test/support/service.ts';
import { QUEUE_OUTPUTS } from '../../ingest/queues.ts';
import { isAllowed, isDenied, startAsOperator } from '../support/as-operator.ts';
import { enterFakeAws } from '../support/aws.ts';
import { lines } from '../support/data-lines.ts';
import { type AdminOptions, adminOf, commandNames, commandsWith, runCommand } from '../support/run-admin.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'help-'));
const NOW = Date.now();

const INCIDENT = '64f000000000000000000001';
const ALERTS = ['64f0000000000000000000a1', '64f0000000000000000000a2'] as const;
/** The entry of their merge. */
const ENTRY = 1_795_000_000_000;
const MEMBER = '{"kind":"member","account_id":42,"member_id":1,"name":"n"}\n';

/** A table with the account 42 of the examples: a deleted work item and RUM resource, and a merge. @param text each text in it */
async function makeAcme(text = 'Acme'): Promise<Table> {
  const table = await newTable();
  const admin = adminOf(table);
  const at_ms = NOW - 40 * 86_400_000;
  const host_id = 'fra-1-web-0001';
  const deleted = { work_item_id: 'wi-1001', version: 2, deleted_at_ms: ENTRY };
  const data = [
    { kind: 'account', name: text, permissions: ['monit'] },
    { kind: 'app_key', app_key_hash: '1f3a77c0d2b4e6f8'.padEnd(64, '0'), note: text, last_digits: text.slice(-4) },
    { kind: 'host', ...inventory({ edge_cluster: text, agent_version: text }), host_id, at_ms, reason_codes: [text] },
    { kind: 'host_status', ...live({ received_at_ms: at_ms, observed_at_ms: at_ms }), host_id, reason_codes: [text] },
    { kind: 'rum_resource', ...RUM_RECORD, deleted: true },
    { kind: 'work_item', ...deleted, title: text, more: { [text]: [text] } },
    { kind: 'incident', incident_id: INCIDENT, title: text },
    ...ALERTS.map((alert_id) => ({ kind: 'alert', alert_id, title: text })),
    { kind: 'alert', alert_key: 'db-7/root', title: text, labels: { [text]: text }, at_ms },
  ].map((line) => ({ account_id: 42, ...line }));
  expect(await admin('import -', { stdin: lines(...data) })).toMatchObject({ exitCode: 0 });
  const merge = ['merge', 'alerts', INCIDENT, ...ALERTS, '--account', '42', '--comment', text, '--title', `${text} 2`];
  expect(await admin(merge, { now: () => ENTRY })).toMatchObject({ exitCode: 0 });
  return table;
}

const helps = await Promise.all(commandNames.map((words) => runCommand([...words, '--help'])));
const names = commandNames.map((words) => words.join(' '));
/** The examples that the help of each command ends with. */
const examples = helps.flatMap(({ out }) => [...out.matchAll(/^ {2}\$ npm run --silent admin -- (.*)$/gm)]);
const { pipes = [], single = [] } = Object.groupBy(new Set(examples.map(([, line = '']) => line)), (line) =>
  line.includes(' | ') ? 'pipes' : 'single',
);
const local = single.filter((line) => !/--stack|--region|^(relay|feed)/.test(line));

const outputs: Record<string, string> = { AccountPlanId: 'plan', AccessLogs: 'access' };
/** The examples and the commands that write run with the rights of the operator's policy. */
const asOperator = await startAsOperator(dynamodbEndpoint());
afterAll(asOperator.close);
const aws = await enterFakeAws({ IncidentMonitoringRum: { outputs } });
const RELAY_OUTPUTS = ['RelayEventsUrl', 'MergeQueueUrl', 'RelayDeadLettersUrl'];
for (const name of [...Object.values(QUEUE_OUTPUTS), ...RELAY_OUTPUTS])
  outputs[name] = `${aws.url}/123456789012/${name}`;

/** Runs an example on a table, or on a stack with it. */
function runExample(table: Table, command: string, options: AdminOptions = {}) {
  outputs.TableName = table.name;
  if (command.startsWith('gateway-keys remove')) aws.gateway.attached = [];
  const args = wordsOf(command.replace('hosts.ndjson', '-').replace('acme.ndjson', join(folder, 'acme.ndjson'))).map(
    (word) => (word.startsWith('IncidentMonitoringRum-Table') ? table.name : word),
  );
  const env: Record<string, string> = /--stack|--region/.test(command)
    ? { AWS_REGION: 'eu-west-1' }
    : { DYNAMODB_ENDPOINT: asOperator.endpoint, TABLE_NAME: table.name };
  // The console runs until it is stopped.
  const signal = command.startsWith('console') && { signal: AbortSignal.timeout(100) };
  return runCommand([...args, '--yes'], { env, stdin: MEMBER, ...signal, ...options });
}

describe('the help', async () => {
  const table = await makeAcme();

  it('has an example for every command', () => {
    expect(names.filter((name) => ![...pipes, ...single].some((line) => line.startsWith(name)))).toEqual([]);
  });

  const ofAccount = local.filter((line) => line.includes(' 42') && !line.startsWith('account create'));
  it.each(ofAccount)('has an example that fails for an account that does not exist: %s', async (line) => {
    const err = expect.stringContaining('Account 7 does not exist: `account list` shows all accounts.\n');
    expect(await runExample(table, line.replace(' 42', ' 7'))).toEqual({ exitCode: 1, out: '', err });
  });

  // A revoked key cannot be rotated, and a stack with removed keys cannot be used.
  const runsLast = (line: string) => Number(/app-key revoke|gateway-keys remove/.test(line));
  it.each(single.sort((a, b) => runsLast(a) - runsLast(b)))('has an example that works: %s', async (line) => {
    const { exitCode, err } = await runExample(table, line);
    expect([exitCode, exitCode === 0 ? '' : err]).toEqual([0, '']);
  });

  const isRun = (line: string, option: string) => commandsWith(option).some((name) => line.startsWith(name));
  // A command that writes does not do so again.
  const reading = single.filter(
    (line) => isRun(line, '--json') && (line.includes('--dry-run') || !isRun(line, '--dry-run')),
  );
  it.each(reading)('has an example whose names in JSON have one style: %s', async (line) => {
    const { out } = await runExample(table, line.replace(/ --json|$/, ' --json'));
    const names: string[] = [];
    JSON.parse(out, (name) => void names.push(name));
    expect(names.filter((name) => /[a-z][A-Z]/.test(name))).toEqual([]);
  });

  it.each(pipes)('has an example that works in a shell: %s', async (pipe) => {
    const other = await newTable();
    const command = `npm run --silent admin -- ${pipe.replace('--stack Other --yes', `--table ${other.name}`)}`;
    const env = { ...process.env, DYNAMODB_ENDPOINT: dynamodbEndpoint(), TABLE_NAME: table.name };
    const shell = spawn('bash', ['-o', 'pipefail', '-c', command], { cwd: root, env, stdio: 'ignore' });
    expect(await once(shell, 'close')).toEqual([0, null]);
    expect((await stored(other, keys.account(42))).name).toMatch(/^Acme/);
  });
});

it("the operator's policy lets rows of the audit be added, but not updated or deleted, whatever else an operator may do", () => {
  const [audit, other] = [keys.audit(42, NOW, 'id').pk, keys.workItem(42, 'w').pk];
  for (const action of ['PutItem', 'GetItem', 'Query', 'Scan', 'BatchGetItem', 'ConditionCheckItem'])
    expect([action, isAllowed(action, audit)]).toEqual([action, true]);
  for (const action of ['UpdateItem', 'DeleteItem'])
    expect([action, isAllowed(action, audit), isAllowed(action, other)]).toEqual([action, false, true]);
  for (const action of ['BatchWriteItem', 'PartiQLUpdate', 'PartiQLDelete'])
    expect([action, isAllowed(action, audit), isDenied(action, audit)]).toEqual([action, false, true]);
});

it("a command that fails leaves a row of the audit that says so, with the rights of the operator's policy", async () => {
  const admin = adminOf(await newTable(), asOperator.endpoint);
  await admin('account create 44 --name None');
  expect((await admin('rum restore --account 44')).exitCode).toBe(1);
  const entries = JSON.parse((await admin('audit --account 44 --json')).out);
  expect(entries).toContainEqual(expect.objectContaining({ command: 'rum restore', result: 'failed' }));
});

describe('a command that writes', async () => {
  const table = await makeAcme();
  const admin = adminOf(table, asOperator.endpoint);

  const readRows = async () => new Map((await rowsIn(table)).map((row) => [`${row.pk} ${row.sk}`, row]));
  type Rows = Awaited<ReturnType<typeof readRows>>;
  /** The rows that were written, and those that were deleted, as they were. */
  const changes = (before: Rows, after: Rows) => [
    ...[...after].filter(([key, row]) => !isDeepStrictEqual(before.get(key), row)).map(([, row]) => row),
    ...[...before].filter(([key]) => !after.has(key)).map(([, row]) => row),
  ];
  const pending = (at: number) =>
    put(table, keys.logHead(42), { last: at, last_large: at, pending: { [at]: INCIDENT } });
  const pendingNothing = () => pending(NOW + 99);
  async function pendingMerge() {
    const none = { alert_ids: Buffer.alloc(0), other_ids: Buffer.alloc(0) };
    const entry = { kind: 'merge', incident_id: INCIDENT, sequence: NOW + 9, large: true, ...none };
    await put(table, keys.historyEntry(42, INCIDENT, NOW + 9), entry);
    await pending(NOW + 9);
  }

  const KEY = /^[\w-]{43}$/;
  const MERGE_ROWS = 'audit historyEntry logHead logPointer';
  const FAILOVER_ROWS = `account account ${'appKey '.repeat(3)}${'audit '.repeat(2 * 3)}`.trim();
  type Prepare = () => Promise<void>;
  const TABLE: [args: string, out: string | RegExp, target: string, rows: string, prepare?: Prepare][] = [
    ['account create 43 --name New', 'Account 43 created.', 'gateway key', 'account audit audit listedAccount'],
    ['account create 42 --name Acme', 'Account 42 already existed', 'gateway key', 'account appKey audit'],
    ['account grant 42 feed', 'monit feed; active. All calls follow it within 30 s.', 'feed', 'account appKey audit'],
    ['account revoke 42 feed', 'has permissions: monit; active.', 'feed', 'account appKey audit'],
    ['account rename 42 New', 'Account 42 is named New.', 'name', 'account appKey audit'],
    ['account suspend 42', 'has permissions: monit; suspended.', '', 'account appKey audit'],
    ['account unsuspend 42', 'has permissions: monit; active.', '', 'account appKey audit'],
    ['app-key issue --account 42', KEY, 'key ', 'account appKey audit'],
    ['app-key rotate 1f3a77c0 --account 42', KEY, 'key 1f3a77c0d2b4e6f8 to key ', 'account appKey appKey audit'],
    ['app-key revoke 1f3a77c0 --account 42', /^Key 1f3a77c0d2b4e6f8 revoked/, 'key 1f3a77c0d2b4e6f8', 'appKey audit'],
    ['gateway-keys create', 'of 2 accounts exist', 'gateway key', 'account account appKey appKey appKey audit audit'],
    ['import -', 'Imported 1 member.', '-', 'audit member'],
    ['host retire --account 42 --stale-for 30d', '1 host retired.', '1 host', 'audit host hostStatus retirement'],
    ['alert close db-7/root --account 42', /^Alert \w{24} closed\.$/, 'alert ', 'alert alertKey audit'],
    ['work-item restore wi-1001 --account 42', 'is at version 3.', 'work item wi-1001', 'audit workItem'],
    ['rum restore --account 42', 'RUM resource of account 42 restored.', 'RUM resource', 'audit rumResource'],
    [`merge undo ${INCIDENT} ${ENTRY} --account 42`, '2 of 2 alerts', `entry ${ENTRY} of`, `alert alert ${MERGE_ROWS}`],
    [
      `merge alerts ${INCIDENT} ${ALERTS[0]} --account 42`,
      '1 alert merged',
      'alerts into',
      `alert ${MERGE_ROWS} rateCount`,
    ],
    ['merge finish --account 42', `Merge ${NOW + 9} into`, `entry ${NOW + 9} of`, 'audit logHead', pendingMerge],
    ['repair --account 42 --write', ': account 42, ', '3 findings', 'audit logHead logPointer', pendingNothing],
    [`failover --from ${asOperator.endpoint}`, /^0 findings repaired/, 'accounts and keys', FAILOVER_ROWS],
  ];
  const commandOf = (args: string) => names.findLast((name) => name !== '' && args.startsWith(name)) ?? '';

  it('has a row here, unless it needs API Gateway, the queues of a stack or a clock that goes on', () => {
    const others = ['account erase', 'feed redrive', 'feed drop', 'feed move', 'gateway-keys remove', 'relay replay'];
    const covered = new Set([...TABLE.map(([args]) => commandOf(args)), ...others]);
    expect(covered).toEqual(new Set([...commandsWith('--dry-run'), ...commandsWith('--write')]));
  });

  it.each(TABLE)('%s', async (args, out, target, rows, prepare) => {
    const run = (more = '') => admin(`${args}${more}`, { stdin: MEMBER, now: () => NOW });
    await prepare?.();
    const before = await readRows();
    if (!args.endsWith('--write')) {
      const err = expect.stringMatching(/^Dry run: nothing is written\.\n./);
      expect(await run(' --dry-run')).toMatchObject({ exitCode: 0, err });
      expect(JSON.parse((await run(' --dry-run --json')).out)).toMatchObject({ dry_run: true });
      expect(changes(before, await readRows())).toEqual([]);
    }
    const result = await run();
    expect([result.exitCode, result.out.trimEnd()]).toEqual([0, expect.stringMatching(out)]);
    const changed = Map.groupBy(changes(before, await readRows()), (row) => parseKey(row)?.kind ?? '');
    const kinds = [...changed].flatMap(([kind, rows]) => rows.map(() => kind));
    expect(kinds.sort().join(' ')).toBe(rows);
    const audit = changed.get('audit') ?? [];
    const ttl = Math.floor(NOW / 1000) + 400 * 86_400;
    const by = expect.stringMatching(/^local user ./);
    for (const row of audit)
      expect(row).toMatchObject({ command: commandOf(args), result: 'done', by, at_ms: NOW, ttl });
    expect(audit.map((row) => String(row.target ?? ''))).toContainEqual(
      expect.stringMatching(target ? `^${target}` : /^$/),
    );
  });
});

/** A line break with a forged line, a window title, an 8-bit CSI, a bidirectional override and a line separator. */
const HOSTILE = 'disk\n  000000000000001  merge by operator\u001b]0;owned\u0007\u009b2J\u202etxt\u2028\r\u007f';
const ESCAPED = 'disk\\n  000000000000001  merge by operator\\u001b]0;owned\\u0007\\u009b2J\\u202etxt\\u2028';
// biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be printed
const UNSAFE = /disk\n|[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

describe('stored text', async () => {
  const table = await makeAcme(HOSTILE);
  await put(table, keys.logHead(42), { last: ENTRY, last_large: 5, pending: { 5: HOSTILE } });
  const writing = [...commandsWith('--dry-run'), ...commandsWith('--write'), 'console', 'export'];
  const reading = local.filter((line) => !writing.some((name) => line.startsWith(name)));
  const withoutText = /^(status|audit|merge list .*--since|.*--cluster|alert list .*--ended)/;

  it.each([...reading, 'export --account 42', 'account create 42 --name Other'])(
    'neither controls a terminal nor forges a line: %s',
    async (line) => {
      const { out, err } = await runExample(table, line);
      expect(out + err).not.toMatch(UNSAFE);
      if (withoutText.test(line)) return;
      expect(out + err).toContain(ESCAPED);
      if (/create|check|export/.test(line)) return;
      const json = (await runExample(table, `${line} --json`)).out;
      expect(json).not.toMatch(UNSAFE);
      const texts: string[] = [];
      JSON.parse(json, (key, value) => void texts.push(key, String(value)));
      expect(texts).toContainEqual(expect.stringContaining(HOSTILE));
    },
  );
});

it('lists fit the terminal, and have all of a long name elsewhere', async () => {
  const admin = adminOf(await newTable());
  const name = 'Acme '.repeat(100).trim();
  for (const [id, of] of Object.entries({ 42: name, 43: 'Other' }))
    await admin(['account', 'create', id, '--name', of]);
  const { out } = await admin('account list', { terminal: true });
  expect(Math.max(...out.split('\n').map(({ length }) => length))).toBe(100);
  expect(out).toMatch(/^42 {7}Acme .*… +none +active/m);
  const piped = (await admin('account list')).out.split('\n');
  expect(piped[1]).toContain(name);
  expect(piped[2]?.length).toBeLessThan(100);
});

const COMMAND_FILES = ['admin/cli/admin', 'client/src/cli', 'local/start', 'mcp/src/main'].map(
  (file) => `packages/${file}.ts`,
);
const NO_SPACE = 'Cannot write to standard output: ENOSPC: no space left on device, write. What was done stays done.\n';
it.each(COMMAND_FILES)(
  '%s ends as usual if nobody reads its output, and says why if that cannot be written',
  async (file) => {
    for (const [output, ends] of [
      ['pipe', [0, '']],
      [openSync('/dev/full', 'w'), [1, NO_SPACE]],
    ] as const) {
      const child = spawn(process.execPath, [join(root, file), '--help'], { stdio: ['ignore', output, 'pipe'] });
      let errors = '';
      child.stderr?.on('data', (chunk) => (errors += chunk));
      child.stdout?.destroy();
      const [exitCode] = await once(child, 'close');
      expect([exitCode, errors]).toEqual(ends);
    }
  },
);
