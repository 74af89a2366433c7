/**
 * Generates clients from `openapi.json` by third-party generators. Each must compile under its strictest options, and make the four
 * calls and three that fail. Needs Go and Python; installs what the lock files of `calls/` name into a temporary folder.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_KEYS, sampleId } from '../../infra/generate/sample.ts';
import { goTool, root, shell, startService } from '../support/processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'generators-'));
const description = join(root, 'openapi.json');
const service = await startService();
const env = {
  BASE_URL: service.url,
  APP_KEY: DEMO_KEYS.demo,
  INCIDENT: sampleId('incident 0'),
  ALERTS: [0, 1].map((index) => sampleId(`alert ${index}`)).join(' '),
};
const inFolder = (line: string) => shell(`cd '${folder}' && ${line}`, env);
cpSync(join(import.meta.dirname, 'calls'), folder, { recursive: true });

async function typescript(): Promise<void> {
  await inFolder('npm ci --no-audit --no-fund --ignore-scripts');
  await inFolder(
    `npx openapi-typescript '${description}' --default-non-nullable false -o openapi-typescript.d.ts && npx openapi-ts -i '${description}' -o hey`,
  );
  await inFolder(
    'npx tsc openapi-fetch.ts hey-api.ts --strict --noUncheckedIndexedAccess --target es2022 --module esnext --moduleResolution bundler --noEmit',
  );
  await inFolder(
    `'${root}node_modules/.bin/esbuild' openapi-fetch.ts hey-api.ts --bundle --platform=node --format=esm --outdir=built --log-level=error && node built/openapi-fetch.js && node built/hey-api.js`,
  );
}

async function python(): Promise<void> {
  await inFolder(
    'python3 -m venv python && python/bin/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements.txt',
  );
  // Runs the commands of the examples' README in a copy.
  const readme = readFileSync(join(root, 'examples/README.md'), 'utf8');
  cpSync(description, join(folder, 'openapi.json'));
  cpSync(join(root, 'examples/python'), join(folder, 'examples/python'), { recursive: true });
  const runReadmeCommand = (begin: string) => {
    const [command] = new RegExp(`(?<=\`)${begin}[^\`]*`).exec(readme) ?? [];
    if (command === undefined) throw new Error(`examples/README.md has no command ${begin}`);
    return inFolder(`PATH="$PWD/python/bin:$PATH" ${command}`);
  };
  await runReadmeCommand('openapi-python-client');
  const list = await runReadmeCommand('python examples');
  if (!/^[a-z]*-1-/m.test(list)) throw new Error(`stale_hosts.py lists no host:\n${list}`);
  await inFolder('cp -r examples/python/monitoring_client .');
  await inFolder(
    'python/bin/mypy --strict --follow-imports=silent --no-error-summary calls.py && python/bin/python calls.py',
  );
}

async function go(): Promise<void> {
  const oapiCodegen = await goTool('github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen');
  mkdirSync(join(folder, 'go/api'));
  await inFolder(`'${oapiCodegen}' -generate types,client -package api -o go/api/api.go '${description}'`);
  await inFolder('cd go && go vet ./... && go run .');
}

let failed = false;
try {
  // One after the other: together they would exceed the calls a second that fleet browse allows.
  for (const [name, tryClient] of Object.entries({
    'openapi-typescript with openapi-fetch, and @hey-api/openapi-ts': typescript,
    'openapi-python-client': python,
    'oapi-codegen': go,
  })) {
    const began = Date.now();
    const problem = await tryClient().then(
      () => undefined,
      (error: Error) => error.message,
    );
    failed ||= problem !== undefined;
    process.stdout.write(
      `${problem ? 'NOT OK' : 'ok'} ${name}, ${Math.round((Date.now() - began) / 1_000)} s\n${problem ?? ''}`,
    );
  }
} finally {
  await service.stop();
  rmSync(folder, { recursive: true });
}
process.exitCode = failed ? 1 : 0;
