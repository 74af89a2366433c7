import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runCommand } from '../support/run-admin.ts';

const run = promisify(execFile);
/** What a command prints, run in this process. The library of completion prints with `console.log`. */
async function printed(...words: string[]) {
  const log = vi.spyOn(console, 'log').mockReturnValue();
  onTestFinished(() => log.mockRestore());
  await runCommand(words);
  return log.mock.calls.splice(0).flat().join('\n');
}
const completed = async (...words: string[]) =>
  (await printed('complete', '--', ...words))
    .split('\n')
    .map((line) => line.split('\t')[0])
    .filter((word) => word !== '' && !word?.startsWith(':'));

it.each([
  [['sh'], ['show']],
  [
    ['show', ''],
    ['incident', 'incidents', 'alert', 'work-item', 'host', 'fleet'],
  ],
  [['show', 'fl'], ['fleet']],
  [['show', 'fleet', '--'], expect.arrayContaining(['--account', '--json', '--stack'])],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['com'], ['completion']],
])('admin complete completes %j', async (words, expected) => {
  expect(await completed(...words)).toEqual(expected);
});

/** For each shell, a script that completes a command line with the completion script in the file `$1`. */
const SHELLS = {
  // With what the package bash-completion has, or the part of it that the script needs.
  bash: `source /usr/share/bash-completion/bash_completion 2>/dev/null ||
    _get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=\${words[cword]}; prev=\${words[cword-1]}; }
    source "$1"
    COMP_WORDS=(admin show fl); COMP_CWORD=2; COMP_LINE='admin show fl'; COMP_POINT=13
    __admin_complete; echo "admin show \${COMPREPLY[0]}"`,
  // A terminal, on which Tab is pressed.
  zsh: `zmodload zsh/zpty
    zpty -b shell 'TERM=dumb zsh -f -i'
    zpty -w shell "PS1=; autoload -U compinit; compinit -u -D; source $1; print rea''dy"
    zpty -r shell shown '*ready*'
    zpty -w -n shell $'admin show fl\t'
    zpty -r shell shown '*admin show fleet*'
    print -r -- "$shown"`,
  fish: `source $argv[1]; echo admin show (complete -C 'admin show fl')`,
} as const;

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'exit']).status === 0;

describe('admin completion', () => {
  // The path contains characters that shells must have quoted.
  const folder = mkdtempSync(join(tmpdir(), 'completion-'));
  const service = join(folder, "it's [a] (service)");
  symlinkSync(fileURLToPath(new URL('../../../../', import.meta.url)), service);
  const admin = join(service, 'packages/admin/cli/admin.ts');
  const keepLinks = ['--preserve-symlinks', '--preserve-symlinks-main'];

  // The gate installs all of them.
  it.each(Object.entries(SHELLS).filter(([shell]) => process.env.EVERY_SHELL || isInstalled(shell)))(
    'completes a command in %s',
    async (shell, script) => {
      const file = join(folder, shell);
      const { stdout: printed } = await run(process.execPath, [...keepLinks, admin, 'completion', shell]);
      writeFileSync(file, printed);
      // bash and zsh have a name before their arguments, fish does not.
      const args = shell === 'fish' ? [file] : [shell, file];
      const { stdout } = await run(shell, ['-c', script, ...args], { cwd: '/', timeout: 60_000 });
      expect(stdout).toContain('admin show fleet');
    },
  );
});
