/** The last release's merge, which may serve the same table during an update. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { createMergeAlerts } from '../../../lib/operations/merge-alerts/merge.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Only its `lib`, with this tree's packages, so that errors thrown by the table double have the same classes. */
export async function mergeOfPreviousRelease(): Promise<typeof createMergeAlerts> {
  const commit = readFileSync(join(root, 'docs/released-commit.txt'), 'utf8').trim();
  const tree = join(root, '.local/simulated', commit);
  if (!existsSync(tree)) {
    const temporary = mkdtempSync(join(mkdirSync(join(root, '.local/simulated'), { recursive: true }) ?? root, 'new-'));
    // The root of the clone, also if this is a copy inside it.
    const cwd = execFileSync('git', ['rev-parse', '--show-toplevel'], { cwd: root, encoding: 'utf8' }).trim();
    const files = execFileSync('git', ['archive', commit, 'lib'], { cwd, maxBuffer: 2 ** 30 });
    execFileSync('tar', ['-x', '-C', temporary], { input: files });
    renameSync(temporary, tree);
  }
  // Releases before `lib/operations` have it elsewhere.
  const places = ['lib/operations/merge-alerts/merge.ts', 'lib/incidents/merge-alerts.ts'].map((path) =>
    join(tree, path),
  );
  return (await import(places.find((path) => existsSync(path)) ?? tree)).createMergeAlerts;
}
