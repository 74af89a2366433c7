/** The packages of another revision's tree. */
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const lockOf = (tree: string) => readFileSync(join(tree, 'package-lock.json'), 'utf8');

/** Links the packages of this tree, or installs those of a tree that has others. A tree that has its packages is left as it is. */
export function addPackages(tree: string): void {
  const packages = join(tree, 'node_modules');
  const isLink = lstatSync(packages, { throwIfNoEntry: false })?.isSymbolicLink();
  if (lockOf(tree) === lockOf(root)) {
    if (isLink === undefined) symlinkSync(join(root, 'node_modules'), packages, 'dir');
    return;
  }
  // This tree's, which had the same packages once: npm would empty them.
  if (isLink) unlinkSync(packages);
  // npm writes this file last.
  if (existsSync(join(packages, '.package-lock.json'))) return;
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--silent'], {
    cwd: tree,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
