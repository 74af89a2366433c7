import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const admin = async (...args: string[]) =>
  (await run(process.execPath, ['cli/admin.ts', ...args], { cwd: root })).stdout;
const completed = async (...words: string[]) =>
  (await admin('complete', '--', ...words))
    .split('\n')
    .map((line) => line.split('\t')[0])
    .filter((word) => word !== '' && !word?.startsWith(':'));

describe('admin complete', () => {
  it('tells commands, those within a group, options and choices', async () => {
    expect(await completed('sh')).toEqual(['show']);
    expect(await completed('show', '')).toEqual(['incident', 'incidents', 'alert', 'work-item', 'host', 'fleet']);
    expect(await completed('show', 'fl')).toEqual(['fleet']);
    expect(await completed('show', 'fleet', '--')).toEqual(expect.arrayContaining(['--account', '--json', '--stack']));
    expect(await completed('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(await completed('com')).toEqual(['completion']);
  });
});

describe('admin completion', () => {
  it('prints a script for bash that completes by this program', async () => {
    // In place of what bash-completion has.
    const words = '_get_comp_words_by_ref() { words=(admin account s); cur=s; prev=account; cword=2; }';
    const script = `${words}\n${await admin('completion', 'bash')}\n__admin_complete 2>/dev/null; printf '%s ' "\${COMPREPLY[@]}"`;
    expect((await run('bash', ['-c', script], { cwd: '/' })).stdout).toBe('show suspend ');
  });

  it.each(['zsh', 'fish'])('prints a script for %s that calls this program', async (shell) => {
    expect(await admin('completion', shell)).toContain(`'${process.execPath}' '${root}cli/admin.ts' complete --`);
  });

  it('knows no other shell', async () => {
    await expect(admin('completion', 'csh')).rejects.toMatchObject({ code: 2 });
  });
});
