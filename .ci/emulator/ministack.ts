/** MiniStack, an emulator of AWS. It runs functions with the `node` of the PATH, which is Node 24 in npm scripts. */
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../packages/local/dynamodb-local.ts';
import { pythonTool, startServer, untilServed } from '../support/processes.ts';

export type Emulator = Awaited<ReturnType<typeof startEmulator>>;

/** Starts MiniStack on a free port of the loopback interface, and waits until it answers. */
export async function startEmulator() {
  const port = String(await freePort());
  const endpoint = `http://127.0.0.1:${port}`;
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
  const settings = { BIND_HOST: '127.0.0.1', GATEWAY_PORT: port, TMPDIR: folder, LAMBDA_EXECUTOR: 'local' };
  const server = startServer(pythonTool('ministack'), [], {
    cwd: folder,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...env, ...settings },
  });
  await untilServed(`the emulator answers: see ${logFile}`, `${endpoint}/_ministack/health`);
  return {
    endpoint,
    env,
    /** For the SDK's clients. */
    clientOptions: {
      endpoint,
      region: env.AWS_REGION,
      credentials: { accessKeyId: env.AWS_ACCESS_KEY_ID, secretAccessKey: env.AWS_SECRET_ACCESS_KEY },
    },
    log: () => readFileSync(logFile, 'utf8'),
    async [Symbol.asyncDispose]() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
