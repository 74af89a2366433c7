/**
 * Does what a caller does: installs the packed client into an empty folder, compiles a strict program against it, makes the calls from
 * a bundle in Chromium (`CHROMIUM`, or /usr/bin/chromium), runs the examples on Node 20 and 22 and by the commands of their README, and
 * starts the MCP server. Besides these packages it installs only what the lock file of `program/` names.
 */
import { strict as assert } from 'node:assert';
import { cpSync, globSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_KEYS, sampleId } from '../../infra/generate/sample.ts';
import { launchBrowser } from '../../test/browser/surroundings.ts';
import { root, shell, startService } from '../support/processes.ts';

const NODE_VERSIONS = [20, 22];
const INCIDENT = sampleId('incident 0');

using temporary = mkdtempDisposableSync(join(tmpdir(), 'consumer-'));
const folder = temporary.path;
await using service = await startService();
const env = { BASE_URL: service.url, APP_KEY: DEMO_KEYS.demo };
const inFolder = (line: string, variables: Record<string, string> = {}) =>
  shell(`cd '${folder}' && ${line}`, { ...env, ...variables });
const reportDone = (what: string) => process.stdout.write(`ok ${what}\n`);

/** Packs a workspace. @returns the file in the folder, and how many files it contains */
async function pack(workspace: string): Promise<{ filename: string; files: unknown[] }> {
  const [packed] = JSON.parse(await shell(`npm pack -w ${workspace} --json --pack-destination '${folder}'`));
  return packed;
}
const install = (...files: string[]) =>
  inFolder(`npm install --no-save --no-audit --no-fund --ignore-scripts ${files.map((file) => `./${file}`).join(' ')}`);

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

const readme = readFileSync(join(root, 'examples/README.md'), 'utf8');
/** The command of examples/README.md that contains this text, run in the root folder. The values replace its words in capitals, in order. */
function readmeCommand(text: string, values: readonly (string | number)[] = []): string {
  const [command] = /[^`]*/.exec(readme.slice(readme.lastIndexOf('`', readme.indexOf(text)) + 1)) ?? [];
  if (!readme.includes(text) || !command) throw new Error(`examples/README.md does not say how to run ${text}`);
  const remaining = [...values];
  return `cd '${root}' && ${command.replace(/\b[A-Z]+\b/g, () => String(remaining.shift()))}`;
}

const nodeOf = (version: number) => `node_modules/node-${version}-linux-${process.arch}/bin/node`;

async function runExamples(): Promise<void> {
  for (const file of globSync('examples/{node,shell,python}/*', { cwd: root }))
    assert.ok(file.endsWith('/call.sh') || readme.includes(file), `examples/README.md must name ${file}`);
  await shell(readmeCommand('npm run build'));
  const alerts = join(folder, 'alerts.txt');
  writeFileSync(alerts, `${[0, 1, 2].map((index) => sampleId(`alert ${index}`)).join('\n')}\n`);
  type Values = readonly (string | number)[];
  const variants: [name: string, command: (example: string, values?: Values) => string][] = [
    ...NODE_VERSIONS.map((version): (typeof variants)[number] => [
      `Node ${version}`,
      (example, values = []) => `${nodeOf(version)} ${example}.mjs ${values.join(' ')}`,
    ]),
    ['README, JavaScript', (example, values) => readmeCommand(`examples/node/${example}.mjs`, values)],
    ['README, shell', (example, values) => readmeCommand(`examples/shell/${example}.sh`, values)],
  ];
  let firstList: string | undefined;
  for (const [name, command] of variants) {
    const list = (await inFolder(command('stale-hosts'))).replaceAll('"', '').replace(/\d+$/gm, 'age');
    firstList ??= list;
    assert.equal(list, firstList, `${name} lists the same hosts`);
    assert.ok(list.split('\n').length > 20, list);
    assert.match(await inFolder(command('merge-from-file', [INCIDENT, alerts])), /^3 alerts /);
    // Reading the fleet uses a fifth of the calls that are allowed per minute, so each variant runs watch-fleet once: the first with a
    // limit that the fleet stays within, the others with one that it exceeds.
    const [maxStale, status] = name === 'Node 20' ? [50, 0] : [1, 1];
    const watching = `status=0; (${command('watch-fleet', [maxStale])}) >/dev/null || status=$?; echo $status`;
    assert.equal(await inFolder(watching), `${status}\n`, `${name}: watch-fleet ${maxStale}`);
    assert.match(await inFolder(`(${command('stale-hosts')}) 2>&1 || true`, { APP_KEY: 'wrong' }), /Unauthorized/);
    reportDone(`${name}: the examples run, and say why a call is refused`);
  }
}

async function startMcpServer(): Promise<void> {
  await shell(`cd '${root}' && npm run --silent build -w packages/mcp`);
  const clientInfo = { name: 'consumer', version: '1' };
  const messages = [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'get_rum_resource', arguments: {} } },
  ].map((message) => `'${JSON.stringify({ jsonrpc: '2.0', ...message })}'`);
  for (const version of [...NODE_VERSIONS, 24]) {
    // Keeps the server's input open until it has answered.
    const input = `(printf '%s\\n' ${messages.join(' ')}; sleep 3)`;
    const run = `${nodeOf(version)} '${root}packages/mcp/dist/main.js'`;
    assert.match(await inFolder(`${input} | ${run}`), /rum-1-primary/);
    reportDone(`Node ${version}: the MCP server shows the RUM resource`);
  }
}

const { filename, files } = await pack('packages/client');
assert.ok(files.length < 20, `the package has ${files.length} files`);
cpSync(join(import.meta.dirname, 'program'), folder, { recursive: true });
cpSync(join(root, 'examples/node'), folder, { recursive: true });
await inFolder('npm ci --no-audit --no-fund --ignore-scripts');
await install(filename);
await compile();
await callInChromium();
await runExamples();
assert.equal(JSON.parse(await inFolder('npx incident-monitoring-rum-client rum --json')).product, 'rum');
reportDone('the installed command shows the RUM resource');
await startMcpServer();
