/**
 * Does what a caller does: installs the packed client into an empty folder, compiles a strict program against it, makes the calls by a
 * bundle in Chromium (`CHROMIUM`, or /usr/bin/chromium), runs the examples on Node 20 and 22 and as their README says, and starts the
 * MCP server from its package. Besides these packages it installs only what the lock file of `program/` names.
 */
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { DEMO_KEYS, sampleId } from '../../infra/generate/sample.ts';
import { root, shell, startService } from '../support/processes.ts';

const MAX_FILES = 20;
const NODE_VERSIONS = [20, 22];
const CALLS = ['hosts', 'resource', 'deleted', 'merged', 'refused'];

const folder = mkdtempSync(join(tmpdir(), 'consumer-'));
const inFolder = (line: string, env: Record<string, string> = {}) => shell(`cd '${folder}' && ${line}`, env);
const check = (holds: boolean, what: string) => {
  if (!holds) throw new Error(what);
  process.stdout.write(`ok ${what}\n`);
};

const readme = readFileSync(join(root, 'examples/README.md'), 'utf8');
/** The README's command with this text, to be run in the root folder; the values replace its words in capitals. */
function readmeCommand(text: string, values: readonly (string | number)[]): string {
  const [command] = /[^`]*/.exec(readme.slice(readme.lastIndexOf('`', readme.indexOf(text)) + 1)) ?? [];
  if (!readme.includes(text) || !command) throw new Error(`examples/README.md does not say how to run ${text}`);
  const left = [...values];
  return `cd '${root}' && ${command.replace(/\b[A-Z]+\b/g, () => String(left.shift()))}`;
}

const nodeOf = (version: number) => `node_modules/node-${version}-linux-${process.arch}/bin/node`;

/** Makes the calls by the bundle in a page of the service's own origin. @returns which of them succeeded */
async function inChromium(bundle: string, alert: string, incident: string): Promise<string[]> {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage();
    await page.goto(`${service.url}/openapi.json`);
    const call = `page.callAll(...${JSON.stringify([service.url, DEMO_KEYS.demo, alert, incident])})`;
    return await page.evaluate(`(() => { ${bundle}; return ${call}; })()`);
  } finally {
    await browser.close();
  }
}

const service = await startService();
const env = { BASE_URL: service.url, APP_KEY: DEMO_KEYS.demo };
try {
  const packed = JSON.parse(await shell(`npm pack -w packages/client --json --pack-destination '${folder}'`));
  const [{ filename, files }] = packed as [{ filename: string; files: unknown[] }];
  check(files.length < MAX_FILES, `the package has ${files.length} files`);

  cpSync(join(import.meta.dirname, 'program'), folder, { recursive: true });
  cpSync(join(root, 'examples/node'), folder, { recursive: true });
  await inFolder(`npm ci --no-audit --no-fund --ignore-scripts`);
  await inFolder(`npm install --no-save --no-audit --no-fund --ignore-scripts './${filename}'`);
  const sources =
    'consumer.ts browser.ts *.mjs --allowJs --checkJs --noEmit --strict --exactOptionalPropertyTypes --target es2022';
  for (const how of ['--module node16 --moduleResolution node16', '--module esnext --moduleResolution bundler'])
    await inFolder(`npx tsc ${sources} ${how} --types node`);
  await inFolder(
    `npx tsc consumer.ts browser.ts --noEmit --strict --target es2022 --lib es2022,dom --typeRoots none --module preserve`,
  );
  check(true, 'a strict program compiles with node16 and bundler, with the types of Node and of a browser');
  await inFolder(
    'npx esbuild browser.ts --bundle --format=iife --global-name=page --platform=browser --outfile=page.js',
  );

  const incident = sampleId('incident 0');
  const done = await inChromium(readFileSync(join(folder, 'page.js'), 'utf8'), sampleId('alert 3'), incident);
  check(
    CALLS.every((call, index) => call === done[index]),
    `a bundle makes the calls in Chromium: ${done.join(', ')}`,
  );

  writeFileSync(join(folder, 'alerts.txt'), `${[0, 1, 2].map((index) => sampleId(`alert ${index}`)).join('\n')}\n`);
  await shell(readmeCommand('npm run build', []));
  for (const file of globSync('examples/{node,shell,python}/*', { cwd: root }))
    if (!file.endsWith('/call.sh')) check(readme.includes(file), `the README names ${file}`);
  const alerts = join(folder, 'alerts.txt');
  type Values = readonly (string | number)[];
  const commands = [
    ...NODE_VERSIONS.map((version) => ({
      name: `Node ${version}`,
      command: (name: string, values: Values = []) => `${nodeOf(version)} ${name}.mjs ${values.join(' ')}`,
    })),
    {
      name: 'README, JavaScript',
      command: (name: string, values: Values = []) => readmeCommand(`examples/node/${name}.mjs`, values),
    },
    {
      name: 'README, shell',
      command: (name: string, values: Values = []) => readmeCommand(`examples/shell/${name}.sh`, values),
    },
  ];
  let first: string | undefined;
  for (const { name, command } of commands) {
    const list = (await inFolder(command('stale-hosts'), env)).replaceAll('"', '').replace(/\d+$/gm, 'age');
    first ??= list;
    check(list === first && list.split('\n').length > 20, `${name}: lists the stale hosts as CSV`);
    check(
      /^3 alerts /.test(await inFolder(command('merge-from-file', [incident, alerts]), env)),
      `${name}: merges alerts`,
    );
    // Reading the fleet takes a fifth of the calls that a minute allows, so each runs watch-fleet once: one with a limit that holds.
    const [maxStale, expected] = name === 'Node 20' ? [50, 'exit 0\n'] : [1, 'exit 1\n'];
    const exit = await inFolder(
      `status=0; (${command('watch-fleet', [maxStale])}) >/dev/null || status=$?; echo exit $status`,
      env,
    );
    check(exit === expected, `${name}: watch-fleet ${maxStale} ends with ${exit.trim()}`);
    const refused = await inFolder(`(${command('stale-hosts')}) 2>&1 || true`, { ...env, APP_KEY: 'wrong' });
    check(/Unauthorized/.test(refused), `${name}: says why it is refused`);
  }
  // Runs the command of the installed client by npx.
  const resource = JSON.parse(await inFolder('npx incident-monitoring-rum-client rum --json', env));
  check(resource.product === 'rum', 'the command shows the RUM resource');
  const [server] = JSON.parse(await shell(`npm pack -w packages/mcp --json --pack-destination '${folder}'`));
  await inFolder(`npm install --no-save --no-audit --no-fund --ignore-scripts './${filename}' './${server.filename}'`);
  const [protocolVersion, clientInfo] = ['2025-06-18', { name: 'consumer', version: '1' }];
  const ask = [
    { id: 1, method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'get_rum_resource', arguments: {} } },
  ].map((message) => JSON.stringify({ jsonrpc: '2.0', ...message }));
  // Keeps the server's input open until it has answered.
  const asked = `(printf '%s\\n' ${ask.map((line) => `'${line}'`).join(' ')}; sleep 3)`;
  for (const version of [...NODE_VERSIONS, 24]) {
    const answers = await inFolder(
      `${asked} | ${nodeOf(version)} node_modules/incident-monitoring-rum-mcp/dist/main.js`,
      env,
    );
    check(/rum-1-primary/.test(answers), `Node ${version}: the MCP server shows the RUM resource`);
  }
} finally {
  await service.stop();
  rmSync(folder, { recursive: true });
}
