/**
 * What a caller does: installs the packed client into an empty folder, compiles a strict program against it, and runs the
 * examples, on Node 20, 22 and 24, and in shell. A bundle of the client makes the calls in Chromium (`CHROMIUM`, or
 * /usr/bin/chromium). What it installs beside the client is what the lock file of `program/` names.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { DEMO_KEYS, sampleId } from '../../infra/generate/sample.ts';
import { root, shell, startService } from '../support/processes.ts';

const MOST_FILES = 20;
const NODE_VERSIONS = [20, 22, 24];
const CALLS = ['hosts', 'resource', 'deleted', 'merged', 'refused'];

const folder = mkdtempSync(join(tmpdir(), 'consumer-'));
const inFolder = (line: string, env: Record<string, string> = {}) => shell(`cd '${folder}' && ${line}`, env);
const check = (holds: boolean, what: string) => {
  if (!holds) throw new Error(what);
  process.stdout.write(`ok ${what}\n`);
};

const nodeOf = (version: number) => `node_modules/node-${version}-linux-${process.arch}/bin/node`;

/** The calls that a page of the service's own origin makes with the bundle. */
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
  check(files.length < MOST_FILES, `the package has ${files.length} files`);

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
  const commands = [
    ...NODE_VERSIONS.map((version) => ({
      name: `Node ${version}`,
      of: (name: string) => `${nodeOf(version)} ${name}.mjs`,
    })),
    { name: 'curl and jq', of: (name: string) => `'${root}examples/shell/${name}.sh'` },
  ];
  let first: string | undefined;
  for (const { name, of } of commands) {
    const list = (await inFolder(of('stale-hosts'), env)).replaceAll('"', '').replace(/\d+$/gm, 'age');
    first ??= list;
    check(list === first && list.split('\n').length > 20, `${name}: lists the stale hosts as CSV`);
    check(
      /^3 alerts /.test(await inFolder(`${of('merge-from-file')} ${incident} alerts.txt`, env)),
      `${name}: merges alerts`,
    );
    // A walk of the fleet takes a fifth of the calls that a minute allows: one watch each, and in one of them few enough are stale.
    const [most, expected] = name === 'Node 20' ? [50, 'exit 0\n'] : [1, 'exit 1\n'];
    const exit = await inFolder(
      `status=0; ${of('watch-fleet')} ${most} >/dev/null || status=$?; echo exit $status`,
      env,
    );
    check(exit === expected, `${name}: watch-fleet ${most} ends with ${exit.trim()}`);
    if (name.startsWith('Node')) {
      const command = 'node_modules/incident-monitoring-rum-client/dist/cli.js';
      const resource = JSON.parse(await inFolder(`${of('stale-hosts').split(' ')[0]} ${command} rum --json`, env));
      check(resource.product === 'rum', `${name}: the command shows the RUM resource`);
    }
    const refused = await inFolder(`${of('stale-hosts')} 2>&1 || true`, { ...env, APP_KEY: 'wrong' });
    check(/Unauthorized/.test(refused), `${name}: says why it is refused`);
  }
} finally {
  await service.stop();
  rmSync(folder, { recursive: true });
}
