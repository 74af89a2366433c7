import { execFile } from 'node:child_process';
import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, vi } from 'vitest';

it('the CDK app makes an output folder that only its owner can open', async () => {
  const CDK_OUTDIR = join(mkdtempSync(join(tmpdir(), 'app-')), 'cdk.out');
  // The wrong setting ends the app before it makes the bundles, which would take long.
  const env = { ...process.env, CDK_OUTDIR, CDK_CONTEXT_JSON: '{"maxBodyBytes":"wrong"}' };
  const app = promisify(execFile)(process.execPath, ['infra/app.ts'], { env });
  await expect(app).rejects.toMatchObject({ stderr: expect.stringContaining('maxBodyBytes must be') });
  expect(statSync(CDK_OUTDIR).mode & 0o777).toBe(0o700);
});

it('the CDK app names the stack as the setting says', async () => {
  vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify({ stackName: 'Staging', 'aws:cdk:bundling-stacks': [] }));
  const { app } = await import('../../infra/app.ts');
  vi.unstubAllEnvs();
  expect(app.node.tryFindChild('Staging')).toBeDefined();
});
