/** A checkout of the previous release, so that it can run beside this tree. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addPackages } from './packages.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Its one line is the commit of the last release. */
const RELEASED = 'docs/released-commit.txt';

/**
 * Checks out the last release, with its packages, unless that is done.
 * @returns the path of the tree
 * @throws Error saying what to do when the commit is not in this clone
 */
export function checkOutPreviousRelease(): string {
  const tree = previousReleaseIn('.local/releases');
  addPackages(tree);
  return tree;
}

/** Vitest calls it once, before the test files, which run side by side. */
export function setup(): void {
  checkOutPreviousRelease();
}

/**
 * Checks out the last release in a folder of this tree, without its packages, unless that is done.
 * @returns the path of its tree
 * @throws Error saying what to do when the commit is not in this clone
 */
export function previousReleaseIn(folder: string): string {
  const commit = readFileSync(join(root, RELEASED), 'utf8').trim();
  const tree = join(root, folder, commit);
  if (existsSync(tree)) return tree;
  mkdirSync(join(root, folder), { recursive: true });
  const temporary = mkdtempSync(join(root, folder, 'new-'));
  try {
    // The root of the clone: this tree may be a copy inside it.
    const cwd = execFileSync('git', ['rev-parse', '--show-toplevel'], { cwd: root, encoding: 'utf8' }).trim();
    const files = execFileSync('git', ['archive', commit], { cwd, maxBuffer: 2 ** 30, stdio: 'pipe' });
    execFileSync('tar', ['-x', '-C', temporary], { input: files });
    renameSync(temporary, tree);
  } catch (error) {
    rmSync(temporary, { recursive: true });
    if (existsSync(tree)) return tree; // another process was first
    throw new Error(
      `The commit ${commit} that ${RELEASED} names cannot be read: it needs a git clone with its whole history ` +
        '(git fetch --unshallow).',
      { cause: error },
    );
  }
  return tree;
}
