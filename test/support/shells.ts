/** Shells, as somebody pastes a command into them. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempDisposableSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Options that leave out what the user has configured. Interactive shells also expand their history. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  bash: ['--norc', '--noprofile', '-i'],
  dash: ['-i'],
  fish: ['--no-config', '-i'],
  // With the options by which it reads the most characters.
  zsh: ['-f', '-i', '-o', 'extendedglob', '-o', 'kshglob', '-o', 'magicequalsubst', '-o', 'globsubst'],
};

/** The shells to test with: those that every system has, unless `SHELLS` names others. */
export const shells: readonly string[] = (process.env.SHELLS || 'bash sh').split(' ');

/** The arguments that a program gets from a shell for the words of a command line. */
export function argumentsBy(shell: string, words: string): string[] {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'shell-'));
  const file = join(folder.path, 'input');
  writeFileSync(file, `'${process.execPath}' -p "JSON.stringify(process.argv.slice(1))" -- ${words}\nexit\n`);
  const { path: home } = folder;
  const env = { ...process.env, HOME: home, HISTFILE: '', XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
  // A file, since fish does not read the sockets that Node makes in place of pipes.
  const stdin = openSync(file, 'r');
  const { stdout, stderr } = spawnSync(shell, OPTIONS[shell] ?? [], {
    ...{ env, cwd: home, encoding: 'utf8' },
    stdio: [stdin, 'pipe', 'pipe'],
  });
  closeSync(stdin);
  if (!stdout.startsWith('[')) throw new Error(`${shell} did not run the command: ${stderr}`);
  return JSON.parse(stdout);
}
