/** MiniStack, an emulator of AWS. It runs functions by the `node` of the PATH, which is Node 24 in npm scripts. */
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, pythonTool, startServer } from '../support/processes.ts';

const START_TIMEOUT_MS = 30_000;

/** Starts MiniStack on a free port of the loopback interface, and waits until it answers. */
export async function startEmulator() {
  const endpoint = `http://127.0.0.1:${await freePort()}`;
  const folder = mkdtempSync(join(tmpdir(), 'emulator-'));
  const logFile = join(folder, 'log');
  const log = openSync(logFile, 'w');
  /** The environment that makes the AWS SDK and the CDK call the emulator and nothing else. */
  const env = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'eu-central-1',
    AWS_DEFAULT_REGION: 'eu-central-1',
    AWS_EC2_METADATA_DISABLED: 'true',
    CDK_DISABLE_VERSION_CHECK: 'true',
  };
  const server = startServer(pythonTool('ministack'), [], {
    cwd: folder,
    stdio: ['ignore', log, log],
    env: {
      ...process.env,
      ...env,
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: new URL(endpoint).port,
      TMPDIR: folder,
      LAMBDA_EXECUTOR: 'local',
    },
  });
  const emulator = {
    endpoint,
    env,
    credentials: { accessKeyId: env.AWS_ACCESS_KEY_ID, secretAccessKey: env.AWS_SECRET_ACCESS_KEY },
    log: () => readFileSync(logFile, 'utf8'),
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  for (const began = Date.now(); ; await sleep(200)) {
    const answers = await fetch(`${endpoint}/_ministack/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answers) return emulator;
    if (Date.now() - began < START_TIMEOUT_MS && server.child.exitCode === null) continue;
    const printed = emulator.log();
    await emulator.stop();
    throw new Error(`the emulator did not start:\n${printed}`);
  }
}
