/** Starts the service with accounts of its own, and runs Schemathesis, with schemathesis.toml, against it. */
import { spawnSync } from 'node:child_process';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf, messageOf } from '../../lib/http/errors.ts';
import { catalog as en } from '../../lib/http/messages/en.ts';
import { type ListedOperation, operationIdOf, operations } from '../../lib/operations/index.ts';
import { sampleData } from '../../packages/local/sample.ts';
import { pythonTool, root, startService } from '../support/processes.ts';

/** Enough accounts that two fleet calls a second for each are more than Schemathesis makes. */
const ACCOUNTS = Array.from({ length: 100 }, (_, index) => index + 1);
const TIMEOUT_MS = 180_000;
const LINES_PER_KIND = 3;

/** The sample's first lines of each kind, to which the examples of openapi.json refer, for another account and without app keys. */
function sampleOf(account: number): string[] {
  const lines = sampleData(Date.now()).map((line): { kind: string; account_id: unknown } => JSON.parse(line));
  const ofKind = Map.groupBy(lines, ({ kind }) => kind);
  ofKind.delete('app_key');
  const firstOf = (kind: typeof lines) => kind.slice(0, LINES_PER_KIND).filter(({ account_id }) => account_id === 1);
  return [...ofKind.values()].flatMap(firstOf).map((line) => JSON.stringify({ ...line, account_id: account }));
}

const keyOf = (account: number) => `schemathesis-key-of-account-${account}`.padEnd(32, '-');
const linesOf = (account: number) => [
  ...sampleOf(account),
  JSON.stringify({ kind: 'app_key', account_id: account, app_key: keyOf(account) }),
];

/**
 * Why a valid request may be refused: what the schemas of the operations list as refusals. A message of `InvalidParameter` must begin with the
 * listed field, since that code also means that a request does not fit its schema.
 */
const REFUSALS = operations.map(({ name, refusals }: ListedOperation) => {
  const reasons = refusals.map((explanation) => {
    const code = codeOf(explanation.name);
    const [field] = /^\w+/.exec(messageOf(en, { code, explanation })) ?? [];
    return [code, code === 'InvalidParameter' ? field : ''];
  });
  return [operationIdOf(name), reasons];
});

using folder = mkdtempDisposableSync(join(tmpdir(), 'schemathesis-'));
const data = join(folder.path, 'accounts.ndjson');
writeFileSync(data, `${ACCOUNTS.flatMap(linesOf).join('\n')}\n`);
await using service = await startService(['--data', data]);
const { status } = spawnSync(
  pythonTool('schemathesis'),
  ['--config-file', 'schemathesis.toml', 'run', join(root, 'openapi.json'), '--url', service.url],
  {
    cwd: import.meta.dirname,
    stdio: 'inherit',
    timeout: TIMEOUT_MS,
    env: {
      ...process.env,
      APP_KEYS: ACCOUNTS.map(keyOf).join(' '),
      REFUSALS: JSON.stringify(Object.fromEntries(REFUSALS)),
      PYTHONDONTWRITEBYTECODE: '1',
    },
  },
);
process.exitCode = status === 0 ? 0 : 1;
