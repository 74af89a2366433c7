/**
 * Does what a caller does: installs the packed client into an empty folder, compiles a strict program against it, makes the calls from
 * a bundle in Chromium (`CHROMIUM`, or /usr/bin/chromium), sends records with the types of openapi-typescript, runs the examples on
 * Node 20 and by the commands of their README, calls the service with a generated client in Python, and starts the MCP server on Node 20.
 * Installs only what lock files name.
 */
import { strict as assert } from 'node:assert';
import { cpSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT } from '../../packages/client/src/command/exit-codes.ts';
import { DEMO_KEYS, sampleId, sampleIncidentId } from '../../packages/local/sample.ts';
import { launchBrowser } from '../../test/browser/surroundings.ts';
import { pack, pythonTool, root, shell, startService } from '../support/processes.ts';

const INCIDENT = sampleIncidentId(0);
const ALERTS = [0, 1, 2].map((index) => sampleId(`alert ${index}`));

using temporary = mkdtempDisposableSync(join(tmpdir(), 'consumer-'));
const folder = temporary.path;
await using service = await startService();
const env = { BASE_URL: service.url, APP_KEY: DEMO_KEYS.demo };
const inFolder = (line: string, variables: Record<string, string> = {}) =>
  shell(`cd '${folder}' && ${line}`, { ...env, ...variables });
const reportDone = (what: string) => process.stdout.write(`ok ${what}\n`);

async function compile(): Promise<void> {
  const withNode = `*.ts *.mjs --allowJs --checkJs --exactOptionalPropertyTypes --types node`;
  for (const options of [
    `${withNode} --module node16 --moduleResolution node16`,
    `${withNode} --module esnext --moduleResolution bundler`,
    '*.ts --lib es2022,dom --typeRoots none --module preserve',
  ])
    await inFolder(`npx tsc ${options} --strict --target es2022 --noEmit`);
  reportDone('a strict program compiles with node16 and bundler, with the types of Node and of a browser');
}

/** Makes the calls from a bundle of the program, in a page of the service's own origin. */
async function callInChromium(): Promise<void> {
  await inFolder('npx esbuild program.ts --bundle --format=iife --global-name=program --outfile=program.js');
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(`${service.url}/openapi.json`);
    const args = JSON.stringify([service.url, DEMO_KEYS.demo, sampleId('alert 3'), INCIDENT]);
    const bundle = readFileSync(join(folder, 'program.js'), 'utf8');
    const called = await page.evaluate(`(() => { ${bundle}; return program.callAll(...${args}); })()`);
    assert.deepEqual(called, ['hosts', 'resource of 1', 'deleted', 'merged', 'refused']);
  } finally {
    await browser.close();
  }
  reportDone('a bundle makes the calls in Chromium');
}

/** Sends records by a program whose types openapi-typescript has made. */
async function sendTypedRecords(): Promise<void> {
  await inFolder('npx esbuild records.ts --bundle --format=esm --outfile=records.mjs');
  const program = `import('./records.mjs').then(({ send }) => send(process.env.BASE_URL, process.env.APP_KEY)).then(console.log)`;
  assert.equal(await inFolder(`${NODE_20} -e "${program}"`), '7\n');
  reportDone('openapi-typescript: a program in strict TypeScript sends records');
}

const readme = readFileSync(join(root, 'examples/README.md'), 'utf8');
/** The command of examples/README.md that contains this text. The values replace its words in capitals, in order. */
function readmeCommand(text: string, values: readonly (string | number)[] = []): string {
  const [command] = /[^`]*/.exec(readme.slice(readme.lastIndexOf('`', readme.indexOf(text)) + 1)) ?? [];
  if (!readme.includes(text) || !command) throw new Error(`examples/README.md does not say how to run ${text}`);
  const remaining = [...values];
  return command.replace(/\b[A-Z]+\b/g, () => String(remaining.shift()));
}
const inRoot = (command: string) => `cd '${root}' && ${command}`;

/** The oldest Node that the documents promise. */
const NODE_20 = `node_modules/node-20-linux-${process.arch}/bin/node`;
/** A list of hosts, without what differs between the languages, and the ages, which grow. */
const comparable = (list: string) => list.replace(/["\r]/g, '').replace(/\d+$/gm, 'age');

/** Runs a command, and expects its exit code and what it prints. */
async function expectEnd(line: string, code: number, printed: RegExp, variables: Record<string, string> = {}) {
  const output = await inFolder(`{ (${line}) 2>&1 || echo "code $?"; }`, variables);
  assert.match(output, printed);
  assert.equal(/^code (\d+)$/m.exec(output)?.[1] ?? '0', String(code), output);
}

/** Expects the exit codes of docs/api.md, and a line that says why. */
async function expectFailures(line: string, variables: Record<string, string> = {}): Promise<void> {
  const lastLine = (text: string) => new RegExp(`^(host_id.*\\n|"host_id".*\\r\\n)?${text}.*\\ncode \\d\\n$`);
  await expectEnd(line, EXIT.failed, lastLine('Unauthorized: '), { ...variables, APP_KEY: 'wrong' });
  await expectEnd(line, EXIT.wrongUse, lastLine('Set APP_KEY '), { ...variables, APP_KEY: '' });
  const nothingThere = { ...variables, BASE_URL: 'http://127.0.0.1:65535' };
  await expectEnd(line, EXIT.unavailable, lastLine('.*127.0.0.1.*65535'), nothingThere);
}

/** @returns the list of stale hosts, which is the same in all languages */
async function runExamples(): Promise<string> {
  await shell(readmeCommand('npm run build'));
  writeFileSync(join(folder, 'alerts.txt'), `${ALERTS.join('\n')}\n`);
  type Command = (example: string, values?: readonly (string | number)[]) => string;
  const variants: Readonly<Record<string, Command>> = {
    'Node 20': (example, values = []) => `${NODE_20} ${example}.mjs ${values.join(' ')}`,
    'README, JavaScript': (example, values) => inRoot(readmeCommand(`examples/node/${example}.mjs`, values)),
    'README, shell': (example, values) => inRoot(readmeCommand(`examples/shell/${example}.sh`, values)),
  };
  let firstList: string | undefined;
  for (const [name, command] of Object.entries(variants)) {
    const list = comparable(await inFolder(command('stale-hosts')));
    firstList ??= list;
    assert.equal(list, firstList, `${name} lists the same hosts`);
    assert.match(await inFolder(command('merge-from-file', [INCIDENT, join(folder, 'alerts.txt')])), /^3 alerts /);
    // Reading the fleet uses a fifth of the calls that are allowed per minute, so each variant runs watch-fleet once: the first with a
    // limit that the fleet stays within, the others with one that it exceeds.
    const [maxStale, status] = name === 'Node 20' ? [50, 0] : [1, EXIT.found];
    await expectEnd(command('watch-fleet', [maxStale]), status, /hosts are stale/);
    await expectFailures(command('stale-hosts'));
    reportDone(`${name}: the examples run, and say why they fail`);
  }
  assert.ok(firstList && firstList.split('\n').length > 20, firstList);
  return firstList;
}

/** Generates a client by the command of the README, and makes calls with it: those of the example, and those of calls.py. */
async function callFromPython(staleHosts: string): Promise<void> {
  const withTools = { PATH: `${pythonTool('')}:${process.env.PATH}`, ALERTS: ALERTS.join(' '), INCIDENT };
  cpSync(join(root, 'openapi.json'), join(folder, 'openapi.json'));
  cpSync(join(root, 'examples/python'), join(folder, 'examples/python'), { recursive: true });
  cpSync(join(import.meta.dirname, 'calls.py'), join(folder, 'examples/python/calls.py'));
  await inFolder(readmeCommand('openapi-python-client'), withTools);
  assert.equal(comparable(await inFolder(readmeCommand('stale_hosts.py'), withTools)), staleHosts);
  await expectFailures(readmeCommand('stale_hosts.py'), withTools);
  await inFolder(
    'cd examples/python && mypy --strict --follow-imports=silent calls.py stale_hosts.py && python calls.py',
    withTools,
  );
  reportDone('openapi-python-client');
}

async function startMcpServer(): Promise<void> {
  await shell(`cd '${root}' && npm run --silent build -w packages/mcp`);
  const clientInfo = { name: 'consumer', version: '1' };
  const messages = [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'get_rum_resource', arguments: {} } },
  ].map((message) => `'${JSON.stringify({ jsonrpc: '2.0', ...message })}'`);
  // Keeps the server's input open until it has answered.
  const input = `(printf '%s\\n' ${messages.join(' ')}; sleep 3)`;
  assert.match(await inFolder(`${input} | ${NODE_20} '${root}packages/mcp/dist/main.js'`), /rum-1-primary/);
  reportDone('Node 20: the MCP server shows the RUM resource');
}

const client = await pack('packages/client', folder);
cpSync(join(import.meta.dirname, 'program'), folder, { recursive: true });
cpSync(join(root, 'examples/node'), folder, { recursive: true });
await inFolder('npm ci --no-audit --no-fund --ignore-scripts');
await inFolder(`npm install --no-save --no-audit --no-fund --ignore-scripts ${client}`);
await inFolder(`npx openapi-typescript '${root}openapi.json' --output openapi.d.ts`);
await compile();
await sendTypedRecords();
await callInChromium();
await callFromPython(await runExamples());
assert.equal(JSON.parse(await inFolder('npx incident-monitoring-rum-client get-rum-resource --json')).product, 'rum');
reportDone('the installed command shows the RUM resource');
await startMcpServer();
