/** Gives the checkout of another revision its npm packages. */
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const lockOf = (tree: string) => readFileSync(join(tree, 'package-lock.json'), 'utf8');

/** Links this tree's packages if the lock files agree. Otherwise installs them, unless they are installed already. */
export function addPackages(tree: string): void {
  const packages = join(tree, 'node_modules');
  const isLink = lstatSync(packages, { throwIfNoEntry: false })?.isSymbolicLink();
  if (lockOf(tree) === lockOf(root)) {
    if (isLink === undefined) symlinkSync(join(root, 'node_modules'), packages, 'dir');
    return;
  }
  // The link was made while the lock files agreed: npm would follow it and delete this tree's packages.
  if (isLink) unlinkSync(packages);
  // npm writes this file last: the packages are complete.
  if (existsSync(join(packages, '.package-lock.json'))) return;
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--silent'], {
    cwd: tree,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
