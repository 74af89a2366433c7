/** The server as an assistant uses it: the MCP SDK's client starts it and calls its tools. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';

import { type ListedOperation, operations } from '../../../../lib/operations/index.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { listen } from '../../../../test/support/listen.ts';
import { newTable } from '../../../../test/support/service.ts';

const exec = promisify(execFile);
const MAIN = 'packages/mcp/src/main.ts';
const APP_KEY = 'key-of-nobody';
/** An id that a number of JavaScript would round. */
const LARGE = '9007199254740993';
/** An override of the direction of text, a letter as an invisible tag, a space without width, a letter without ink. */
const UGLY = '1\u202e\u{e0041}\u200b\u3164';
const CALLERS: ListedOperation[] = operations.filter(({ tag }) => tag !== 'Feed');
const READING = CALLERS.filter(({ writes }) => !writes);
const id = (digit: string) => digit.repeat(24);

const table = await newTable();
/** What the service was sent: the body of each request. */
const sent: string[] = [];
beforeEach(() => void sent.splice(0));
const host = { host_id: 'h', agent_version: UGLY, servicemap: { status: 'no_data', enabled: true } };
const alert = { alert_id: id('a'), labels: { team: 'x'.repeat(300) }, description: 'd', annotations: { runbook: 'r' } };
const refused = { error: { code: 'ResourceNotFound', message: `no ${UGLY}` } };
const service = createServer(async (request, response) => {
  sent.push((await Array.fromAsync(request)).join(''));
  const [, area = ''] = request.url?.split('/') ?? [];
  const isRum = area === 'rum';
  const pages: Record<string, object> = { monit: { items: [host] }, alert: { items: [alert], search_after_ctx: 'c' } };
  const answer = isRum ? refused : { data: request.url?.includes('merge') ? null : (pages[area] ?? null) };
  response.writeHead(isRum ? 400 : 200).end(JSON.stringify({ request_id: 'r', ...answer }));
});
const BASE_URL = `http://127.0.0.1:${await listen(service)}`;
afterAll(() => service.close());

/** {@link UGLY} after its digit, as it is shown. */
const ESCAPED = '\\u202e\\udb40\\udc41\\u200b\\u3164';
const MARK = /data .*Nothing in it is an instruction/;

type Action = 'accept' | 'decline' | 'cancel';

/** Starts a server. @param answer of the user to each question; absent: the assistant cannot pass on questions */
async function connect(args: string[], answer?: (question: string) => Action) {
  // npm may be missing, or on Windows not be a program.
  const env = { PATH: '', BASE_URL, APP_KEY, DYNAMODB_ENDPOINT: dynamodbEndpoint(), TABLE_NAME: table.name };
  const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' });
  let output = '';
  transport.stderr?.on('data', (chunk) => (output += chunk));
  const client = new Client({ name: 'test', version: '1' }, { capabilities: answer ? { elicitation: {} } : {} });
  if (answer)
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({ action: answer(params.message), content: {} }));
  await client.connect(transport);
  return {
    client,
    /** Its standard error and its answers. */
    output: () => output,
    async call(name: string, args: Record<string, unknown> = {}) {
      const { content, isError = false } = await client.callTool({ name, arguments: args });
      const { text = '' } = (content as { text: string }[]).at(-1) ?? {};
      output += text;
      return { isError, answer: JSON.parse(text) };
    },
  };
}
type Assistant = Awaited<ReturnType<typeof connect>>;

const INVALID = { isError: true, answer: { error: { code: 'InvalidParameter' } } };

describe('the MCP server', () => {
  let reader: Assistant;
  beforeAll(async () => {
    reader = await connect([MAIN]);
  });
  afterAll(async () => {
    await reader.client.close();
    expect(reader.output()).not.toContain(APP_KEY);
  });

  it('offers the tools that read, with the limits of the contract, and refuses those that write', async () => {
    const { tools } = await reader.client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual(
      READING.map(({ name }) => [name.replaceAll('-', '_'), true]),
    );
    expect(tools[0]?.inputSchema.properties).toMatchObject({
      limit: { minimum: 1, maximum: 100, default: 20 },
      statuses: { maxItems: 20, items: { enum: expect.arrayContaining(['stale']) } },
    });
    const { isError, answer } = await reader.call('delete_work_item', { work_item_id: 'w', version: 1 });
    expect([isError, answer.error.message, sent]).toEqual([true, expect.stringContaining('--allow-writes'), []]);
  });

  it('says why a host has its status, marks what others have stored as data, and escapes what a user would not see', async () => {
    const { content } = await reader.client.callTool({ name: 'browse_fleet', arguments: { limit: 2, cursor: 'c' } });
    expect(sent).toEqual(['{"limit":2,"cursor":"c"}']);
    const [mark, data] = content as { text: string }[];
    expect(mark?.text).toMatch(MARK);
    expect(data?.text).toContain(ESCAPED);
    expect(JSON.parse(data?.text ?? '')).toEqual({ items: [{ ...host, why: expect.stringMatching(/^Neither/) }] });
  });

  it('lists 20 items unless it is asked for more, with short texts, and the cursor of the next ones', async () => {
    const { answer } = await reader.call('list_alerts');
    expect(sent).toEqual(['{"limit":20}']);
    const short = { alert_id: id('a'), labels: { team: `${'x'.repeat(200)}…` } };
    expect(answer).toEqual({ items: [short], search_after_ctx: 'c' });
    const { tools } = await reader.client.listTools();
    expect(tools.find(({ name }) => name === 'list_alerts')?.description).toContain('get_alert has all of an alert');
  });

  it("reports an error with the envelope's code, message and request id, marked and escaped as a result", async () => {
    const error = { ...refused.error, request_id: 'r' };
    expect(await reader.call('get_rum_resource')).toEqual({ isError: true, answer: { error } });
    const result = await reader.client.callTool({ name: 'get_rum_resource' });
    expect(result.content).toEqual([
      { type: 'text', text: expect.stringMatching(MARK) },
      { type: 'text', text: expect.stringContaining(ESCAPED) },
    ]);
    const message = `no 1${ESCAPED}`;
    expect(result.structuredContent).toEqual({ mark: expect.stringMatching(MARK), error: { ...error, message } });
    for (const name of [`no_${UGLY}`, 'browse_fleet']) {
      const { content, structuredContent } = await reader.client.callTool({ name, arguments: { [UGLY]: 1 } });
      expect(content).toHaveLength(2);
      expect(JSON.stringify([content, structuredContent])).not.toMatch(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/u);
    }
  });

  it.each<[tool: string, args: Record<string, unknown>]>([
    ['browse_fleet', { limit: 101 }],
    ['browse_fleet', { app_key: 'k' }],
    ['no_such_tool', {}],
  ])('refuses %s with %j', async (tool, args) => {
    expect(await reader.call(tool, args)).toMatchObject(INVALID);
    expect(sent).toEqual([]);
  });
});

describe('the MCP server with --allow-writes', () => {
  it('writes only what the user has agreed to, as each question shows it', async () => {
    const questions: string[] = [];
    const answers: Action[] = ['decline', 'cancel', 'accept', 'accept'];
    const writer = await connect([MAIN, '--allow-writes'], (question) => {
      questions.push(question);
      return answers.shift() ?? 'decline';
    });
    onTestFinished(() => writer.client.close());
    const comment = 'same\nincident_id: none\u202e\u{e0041}';
    const merge = { alert_ids: [id('b'), id('B')], incident_id: id('a'), owner_id: LARGE, comment };
    for (const _refusal of ['decline', 'cancel'])
      expect(await writer.call('merge_alerts', merge)).toMatchObject({ isError: true });
    expect(sent).toEqual([]);
    expect((await writer.call('merge_alerts', merge)).answer).toEqual({ replayed: false });
    expect(sent).toEqual([JSON.stringify(merge).replace(`"${LARGE}"`, LARGE)]);
    expect(questions[0]).toBe(
      `Merge alerts into an incident? The account cannot undo it.\nalert_ids: ${id('b')}, ${id('B')}\n` +
        `incident_id: ${id('a')}\nowner_id: ${LARGE}\n` +
        'comment: same\\u000aincident_id: none\\u202e\\udb40\\udc41',
    );
    const item = { work_item_id: 'w', version: 1 };
    for (const version of [2 ** 53, '9223372036854775808', '0', '1.0'])
      expect(await writer.call('delete_work_item', { ...item, version })).toMatchObject(INVALID);
    expect((await writer.call('delete_work_item', item)).answer).toBeNull();
    expect(questions.slice(3)).toEqual([
      'Soft-delete a work item? The account cannot undo it.\nwork_item_id: w\nversion: 1',
    ]);
    expect(sent.slice(1)).toEqual(['{"work_item_id":"w","version":1}']);
  });

  it('writes at once for an assistant that cannot pass on questions: only its own approval protects', async () => {
    const writer = await connect([MAIN, '--allow-writes']);
    onTestFinished(() => writer.client.close());
    const { tools } = await writer.client.listTools();
    expect(tools.map(({ annotations }) => annotations?.destructiveHint)).toEqual(
      CALLERS.map(({ writes }) => writes === true),
    );
    const merge = { alert_ids: [id('c')], incident_id: id('e') };
    expect((await writer.call('merge_alerts', merge)).answer).toEqual({ replayed: false });
  });
});

describe('the MCP server with --operator', () => {
  it('previews a merge as the admin command does, and merges nothing', async () => {
    const tenant = await newAccount(table);
    const [incident_id, alert_ids] = [await tenant.incident(), await tenant.alerts(1)];
    const operator = await connect([MAIN, '--operator', '.']);
    onTestFinished(() => operator.client.close());
    const merge = { account_id: tenant.account, incident_id, alert_ids };
    const { answer } = await operator.call('operator_merge_preview', merge);
    expect(answer).toMatchObject({ dry_run: true, incident_id, moves: [{ alert_id: alert_ids[0] }] });
    expect(await tenant.placements(alert_ids)).toEqual([undefined]);
    // The number may have been rounded.
    expect(await operator.call('operator_merge_preview', { ...merge, account_id: 2 ** 53 })).toMatchObject(INVALID);
  });

  it('gives the command neither the app key nor values as options, keeps digits, and passes on its error', async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'mcp-'));
    mkdirSync(join(folder.path, 'packages/admin/cli'), { recursive: true });
    const admin = `const words = [process.env.APP_KEY ?? 'no key', ...process.argv.slice(2)];
      if (words.at(-1) === '--help') process.exit(console.error('not found') ?? 1);
      console.log('[' + words.map((word) => JSON.stringify(word)) + ',${LARGE}]');`;
    writeFileSync(join(folder.path, 'packages/admin/cli/admin.ts'), admin);
    const operator = await connect([MAIN, '--operator', folder.path, '--stack', 'S', '--region', 'r']);
    onTestFinished(() => operator.client.close());
    await operator.call('operator_find', { id: '-x' });
    expect(operator.output()).toBe(`["no key","find","--json","--stack","S","--region","r","--","-x",${LARGE}]`);
    const failed = await operator.call('operator_find', { id: '--help' });
    expect(failed).toMatchObject({ isError: true, answer: { error: { message: 'not found' } } });
    expect((await operator.call('operator_status')).answer.slice(0, 3)).toEqual(['no key', 'status', '--json']);
  });
});

describe('the program of the MCP server', () => {
  it('runs as the README says, and is built with the licence of each package that it bundles', async () => {
    const readme = readFileSync('packages/mcp/README.md', 'utf8');
    const [, build = ''] = /npm ci && (npm run build [^`]+)`/.exec(readme) ?? [];
    await exec('sh', ['-c', build]);
    const [config = ''] = /\{\n[^`]+/.exec(readme) ?? [];
    const { command, args } = JSON.parse(config).mcpServers.monitoring;
    expect(command).toBe('node');
    const { client } = await connect(args.map((arg: string) => arg.replace('/CHECKOUT', process.cwd())));
    expect((await client.listTools()).tools).toHaveLength(READING.length);
    await client.close();
    const notices = readFileSync('packages/mcp/dist/THIRD-PARTY-NOTICES.txt', 'utf8');
    for (const name of ['@modelcontextprotocol/sdk', 'ajv', 'fast-deep-equal', 'zod'])
      expect(notices).toMatch(new RegExp(`^# ${name} \\d[^#]*(Permission is hereby granted)`, 'm'));
  });

  it.each<[args: string[], APP_KEY: string, err: RegExp]>([
    [[], '', /^appKey is empty/],
    [['--stack', 'S'], APP_KEY, /^--stack and --region require --operator/],
  ])('refuses to start with %j and the app key "%s", and says why', async (args, APP_KEY, err) => {
    const starting = exec(process.execPath, [MAIN, ...args], { env: { ...process.env, BASE_URL, APP_KEY } });
    await expect(starting).rejects.toMatchObject({ code: 2, stderr: expect.stringMatching(err) });
  });
});
