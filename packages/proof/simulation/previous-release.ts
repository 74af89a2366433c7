/** The merge of the previous release, which may serve the same table during a deployment. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { createMergeAlerts } from '../../../lib/operations/merge-alerts/merge.ts';
import { previousReleaseIn } from '../../../test/support/previous-release.ts';

/** Uses this tree's packages, so that its code knows the classes of the errors that the table double throws. */
export async function mergeOfPreviousRelease(): Promise<typeof createMergeAlerts> {
  const tree = previousReleaseIn('.local/simulated');
  // Older releases have no `lib/operations`.
  const candidates = ['lib/operations/merge-alerts/merge.ts', 'lib/incidents/merge-alerts.ts'].map((path) =>
    join(tree, path),
  );
  return (await import(candidates.find((path) => existsSync(path)) ?? tree)).createMergeAlerts;
}
