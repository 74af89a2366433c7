/** A checkout of the previous release, so that it can run beside this tree. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addPackages } from './packages.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Its one line is the commit of the last release. */
const RELEASED = 'docs/released-commit.txt';
const folder = join(root, '.local/releases');

/**
 * Checks out the last release, with its packages, unless that is done.
 * @returns the path of the tree
 * @throws Error saying what to do when the commit is not in this clone
 */
export function checkOutPreviousRelease(): string {
  const commit = readFileSync(join(root, RELEASED), 'utf8').trim();
  const tree = join(folder, commit);
  if (!existsSync(tree)) checkOut(commit, tree);
  addPackages(tree);
  return tree;
}

/** Vitest calls it once, before the test files, which run side by side. */
export function setup(): void {
  checkOutPreviousRelease();
}

function checkOut(commit: string, tree: string): void {
  mkdirSync(folder, { recursive: true });
  const temporary = mkdtempSync(join(folder, 'new-'));
  try {
    const files = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 30, stdio: 'pipe' });
    execFileSync('tar', ['-x', '-C', temporary], { input: files });
    renameSync(temporary, tree);
  } catch (error) {
    rmSync(temporary, { recursive: true });
    throw new Error(
      `The commit ${commit} that ${RELEASED} names cannot be read: it needs a git clone with its whole history ` +
        '(git fetch --unshallow).',
      { cause: error },
    );
  }
}
