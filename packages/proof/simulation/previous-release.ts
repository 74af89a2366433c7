/** The merge of the previous release, which may serve the same table during a deployment. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { createMergeAlerts } from '../../../lib/operations/merge-alerts/merge.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Uses this tree's packages, so that its code knows the classes of the errors that the table double throws. */
export async function mergeOfPreviousRelease(): Promise<typeof createMergeAlerts> {
  const commit = readFileSync(join(root, 'docs/released-commit.txt'), 'utf8').trim();
  const folder = join(root, '.local/simulated');
  const tree = join(folder, commit);
  if (!existsSync(tree)) {
    mkdirSync(folder, { recursive: true });
    const temporary = mkdtempSync(join(folder, 'new-'));
    // The root of the clone; this tree may be a copy inside it.
    const cwd = execFileSync('git', ['rev-parse', '--show-toplevel'], { cwd: root, encoding: 'utf8' }).trim();
    const files = execFileSync('git', ['archive', commit, 'lib'], { cwd, maxBuffer: 2 ** 30 });
    execFileSync('tar', ['-x', '-C', temporary], { input: files });
    try {
      renameSync(temporary, tree);
    } catch (error) {
      if (!existsSync(tree)) throw error;
      rmSync(temporary, { recursive: true }); // another worker was first
    }
  }
  // Older releases have no `lib/operations`.
  const places = ['lib/operations/merge-alerts/merge.ts', 'lib/incidents/merge-alerts.ts'].map((path) =>
    join(tree, path),
  );
  return (await import(places.find((path) => existsSync(path)) ?? tree)).createMergeAlerts;
}
