/**
 * Generates clients from `openapi.json` with third-party generators. Each must compile with the strictest options, call each operation, and
 * make three calls that fail. Needs Go and Python; installs into a temporary folder what the lock files of `calls/` list.
 */
import { cpSync, mkdirSync, mkdtempDisposableSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_KEYS, sampleId } from '../../infra/generate/sample.ts';
import { goTool, root, shell, startService } from '../support/processes.ts';

using temporary = mkdtempDisposableSync(join(tmpdir(), 'generators-'));
const folder = temporary.path;
await using service = await startService();
const env = {
  BASE_URL: service.url,
  APP_KEY: DEMO_KEYS.demo,
  INCIDENT: sampleId('incident 0'),
  ALERTS: [0, 1].map((index) => sampleId(`alert ${index}`)).join(' '),
};
const inFolder = (line: string) => shell(`cd '${folder}' && ${line}`, env);
cpSync(join(import.meta.dirname, 'calls'), folder, { recursive: true });
cpSync(join(root, 'openapi.json'), join(folder, 'openapi.json'));
const reportDone = (what: string) => process.stdout.write(`ok ${what}\n`);

const STRICT =
  '--strict --noUncheckedIndexedAccess --target es2022 --module esnext --moduleResolution bundler --noEmit';
for (const line of [
  'npm ci --no-audit --no-fund --ignore-scripts',
  'npx openapi-typescript openapi.json --default-non-nullable false -o openapi-typescript.d.ts',
  'npx openapi-ts -i openapi.json -o hey',
  `npx tsc openapi-fetch.ts hey-api.ts ${STRICT}`,
  `'${root}node_modules/.bin/esbuild' openapi-fetch.ts hey-api.ts --bundle --platform=node --format=esm --outdir=built --log-level=error`,
  'node built/openapi-fetch.js',
  'node built/hey-api.js',
])
  await inFolder(line);
reportDone('openapi-typescript with openapi-fetch, and @hey-api/openapi-ts');

await inFolder('python3 -m venv python');
const pip = 'python/bin/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all:';
await inFolder(`${pip} -r requirements.txt`);
cpSync(join(root, 'examples/python'), join(folder, 'examples/python'), { recursive: true });
const readme = readFileSync(join(root, 'examples/README.md'), 'utf8');
/** Runs the command of examples/README.md that begins with this text. */
function runReadmeCommand(beginning: string): Promise<string> {
  const [command] = new RegExp(`(?<=\`)${beginning}[^\`]*`).exec(readme) ?? [];
  if (command === undefined) throw new Error(`examples/README.md has no command ${beginning}`);
  return inFolder(`PATH="$PWD/python/bin:$PATH" ${command}`);
}
await runReadmeCommand('openapi-python-client');
const list = await runReadmeCommand('python examples');
if (!/^"[a-z]*-1-/m.test(list)) throw new Error(`stale_hosts.py lists no host:\n${list}`);
await inFolder('cp -r examples/python/monitoring_client .');
await inFolder('python/bin/mypy --strict --follow-imports=silent --no-error-summary calls.py');
await inFolder('python/bin/python calls.py');
reportDone('openapi-python-client');

mkdirSync(join(folder, 'go/api'));
const options = `-generate types,client -package api -o '${folder}/go/api/api.go'`;
await shell(`${goTool('oapi-codegen')} ${options} '${folder}/openapi.json'`);
await inFolder('cd go && go vet ./... && go run .');
reportDone('oapi-codegen');
