/** Copies the sources and plants bugs in the copies. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A bug: text that occurs once in a file, and what it becomes. */
export interface Bug {
  /** What is wrong with the planted code. */
  name: string;
  file: string;
  find: string;
  replace: string;
}

/** Whether an argument of the command is a part of the bug's name. Without arguments all bugs are chosen. */
export function isChosen({ name }: Bug): boolean {
  const parts = process.argv.slice(2);
  return parts.length === 0 || parts.some((part) => name.includes(part));
}

export const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Copies all files that Git tracks or would add. @returns the path of the copy */
export function copySources(name: string): string {
  const folder = `${root}.local/mutants/${name}/`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const list = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of list.stdout.split('\0').filter((name) => name && existsSync(`${root}${name}`)))
    cpSync(`${root}${file}`, `${folder}${file}`);
  symlinkSync(`${root}node_modules`, `${folder}node_modules`);
  return folder;
}

/**
 * Plants a bug in the folder.
 * @returns a function that takes it out again; undefined: its text does not occur exactly once
 */
function plant(folder: string, { file, find, replace }: Bug): (() => void) | undefined {
  const path = `${folder}${file}`;
  const source = readFileSync(path, 'utf8');
  const [before, after, ...more] = source.split(find);
  if (after === undefined || more.length > 0) return undefined;
  writeFileSync(path, `${before}${replace}${after}`);
  return () => writeFileSync(path, source);
}

/** Runs `test` while the bug is planted in the folder. */
export async function withBug<Result>(folder: string, bug: Bug, test: () => Promise<Result>) {
  const restore = plant(folder, bug);
  if (!restore)
    throw new Error(
      `The text of "${bug.name}" must occur once in ${bug.file}: bring packages/proof/mutants/mutants.ts up to date.`,
    );
  try {
    return await test();
  } finally {
    restore();
  }
}

/**
 * Compiles all bugs, since a bug that does not compile makes any test fail. Bugs whose texts overlap are compiled one after the other.
 * @throws with the compiler's errors
 */
export function checkTypes(bugs: readonly Bug[]): void {
  for (let remaining = bugs; remaining.length > 0; ) {
    const folder = copySources('types');
    const postponed = remaining.filter((bug) => !plant(folder, bug));
    const tsc = `${root}node_modules/typescript/bin/tsc`;
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`Planted code does not compile:\n${stdout}`);
    rmSync(folder, { recursive: true });
    if (postponed.length === remaining.length)
      throw new Error(`None of these bugs can be planted: ${postponed.map(({ name }) => name).join('; ')}`);
    remaining = postponed;
  }
}
