/**
 * What a caller does: installs the packed client into an empty folder, compiles a strict program against it, and runs the
 * examples, on Node 20 and Node 24; and the examples in shell.
 */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_KEYS, sampleId } from '../../infra/local/sample.ts';
import { root, shell, startService } from '../support/processes.ts';

const MOST_FILES = 20;
const TOOLS = ['typescript@5.9.3', '@types/node@20.19.25', 'esbuild@0.28.2'];

const folder = mkdtempSync(join(tmpdir(), 'consumer-'));
const inFolder = (line: string, env: Record<string, string> = {}) => shell(`cd '${folder}' && ${line}`, env);
const check = (holds: boolean, what: string) => {
  if (!holds) throw new Error(what);
  process.stdout.write(`ok ${what}\n`);
};

const service = await startService();
const env = { BASE_URL: service.url, APP_KEY: DEMO_KEYS.demo };
try {
  const packed = JSON.parse(await shell(`npm pack -w client --json --pack-destination '${folder}'`));
  const [{ filename, files }] = packed as [{ filename: string; files: unknown[] }];
  check(files.length < MOST_FILES, `the package has ${files.length} files`);

  writeFileSync(join(folder, 'package.json'), '{"name":"consumer","private":true,"type":"module"}');
  await inFolder(`npm install --no-audit --no-fund --ignore-scripts './${filename}' ${TOOLS.join(' ')}`);
  cpSync(join(root, 'examples/node'), folder, { recursive: true });
  cpSync(join(import.meta.dirname, 'consumer.ts'), join(folder, 'consumer.ts'));
  const sources =
    'consumer.ts *.mjs --allowJs --checkJs --noEmit --strict --exactOptionalPropertyTypes --target es2022';
  for (const how of ['--module node16 --moduleResolution node16', '--module esnext --moduleResolution bundler'])
    await inFolder(`npx tsc ${sources} ${how} --types node`);
  await inFolder(
    `npx tsc consumer.ts --noEmit --strict --target es2022 --lib es2022,dom --typeRoots none --module preserve`,
  );
  check(true, 'a strict program compiles with node16 and bundler, with the types of Node and of a browser');
  await inFolder(`npx esbuild consumer.ts --bundle --format=esm --platform=browser --outfile=bundle.js`);
  check(true, 'a bundle for browsers needs nothing of Node');

  const incident = sampleId('incident 0');
  writeFileSync(join(folder, 'alerts.txt'), `${[0, 1, 2].map((index) => sampleId(`alert ${index}`)).join('\n')}\n`);
  const commands = [
    ...[20, 24].map((version) => ({
      name: `Node ${version}`,
      of: (name: string) => `npx -y -p node@${version} node ${name}.mjs`,
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
    check(
      / hosts are stale/.test(await inFolder(`${of('watch-fleet')} 50`, env)),
      `${name}: few enough hosts are stale`,
    );
    const exit = await inFolder(`${of('watch-fleet')} 1 >/dev/null || echo exit $?`, env);
    check(exit === 'exit 1\n', `${name}: too many hosts are stale`);
    const refused = await inFolder(`${of('stale-hosts')} 2>&1 || true`, { ...env, APP_KEY: 'wrong' });
    check(/Unauthorized/.test(refused), `${name}: says why it is refused`);
  }
} finally {
  await service.stop();
  rmSync(folder, { recursive: true });
}
