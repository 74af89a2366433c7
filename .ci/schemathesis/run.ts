/** Starts the service with accounts of its own, and runs Schemathesis, with schemathesis.toml, against it. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonTool, root, startService } from '../support/processes.ts';
import { sampleOf } from '../support/sample.ts';

/** Each may browse its fleet twice a second: all together, more often than Schemathesis calls. */
const ACCOUNTS = 100;
const TIMEOUT_MS = 180_000;
const accounts = Array.from({ length: ACCOUNTS }, (_, index) => index + 1);
const keyOf = (account: number) => `schemathesis-key-of-account-${account}`.padEnd(32, '-');
const linesOf = (account: number) => [
  ...sampleOf(account),
  JSON.stringify({ kind: 'app_key', account_id: account, app_key: keyOf(account) }),
];

const folder = mkdtempSync(join(tmpdir(), 'schemathesis-'));
const data = join(folder, 'accounts.ndjson');
writeFileSync(data, `${accounts.flatMap(linesOf).join('\n')}\n`);
const service = await startService(['--data', data]);
try {
  const { status } = spawnSync(
    pythonTool('schemathesis'),
    ['--config-file', 'schemathesis.toml', 'run', join(root, 'openapi.json'), '--url', service.url],
    {
      cwd: import.meta.dirname,
      stdio: 'inherit',
      timeout: TIMEOUT_MS,
      env: {
        ...process.env,
        APP_KEYS: accounts.map(keyOf).join(' '),
        PYTHONDONTWRITEBYTECODE: '1',
      },
    },
  );
  process.exitCode = status === 0 ? 0 : 1;
} finally {
  await service.stop();
  rmSync(folder, { recursive: true });
}
