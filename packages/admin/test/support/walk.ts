/** Runs a document's blocks of commands in one shell, as if somebody pasted them one after the other. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { listen } from '../../../../test/support/listen.ts';
import { runCommand } from './run-admin.ts';

const root = new URL('../../../../', import.meta.url);

/** Each block of commands of a text, with the output that it shows, if any. */
export const stepsOf = (text: string) =>
  [...text.matchAll(/```sh\n(.*?)```(?:\n```(?:text|json)\n(.*?)```)?/gs)].map(([, commands = '', output = '']) => ({
    commands,
    output,
  }));

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Serves the operator's commands from this process, since starting a process takes longer than a command. The answer to the
 * arguments, environment and standard input of a command is lines of shell that print its output and return its exit code.
 */
async function serveAdmin() {
  const server = createServer(async (request, response) => {
    const [args = '', variables = '', stdin = ''] = (await textOf(request)).split('\0\0');
    const env = Object.fromEntries(variables.split('\0').map((text) => text.split(/=(.*)/s) as [string, string]));
    const printing: string[] = [];
    const print = (redirection: string) => (text: string) => printing.push(`printf %s ${quoted(text)} ${redirection}`);
    const options = { stdin, env, onOut: print(''), onErr: print('>&2') };
    const { exitCode } = await runCommand(args.split('\0'), options);
    response.end([...printing, `return ${exitCode}`].join('\n'));
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, close: () => server.close() };
}

/** Shell functions in place of programs. Calls but the operator's command are only recorded. A table is first CREATING, then ACTIVE. */
const PRELUDE = `
admin_here() {
  local answer
  answer=$({ printf '%s\\0' "$@"; printf '\\0'; env -0; printf '\\0'; cat; } | command curl -sS --fail --data-binary @- "$ADMIN_HERE") || return
  eval "$answer"
}
npm() {
  case $* in
    "run --silent admin -- "*) shift 4; admin_here "$@";;
    *) echo "npm $*" >&3;;
  esac
}
npx() { echo "npx $*" >&3; }
git() { echo "git $*" >&3; }
aws() { echo "aws $*" >&3; case "$*" in *TableStatus*) [ -e "$RESTORED" ] && echo ACTIVE || { echo CREATING; : >"$RESTORED"; };; *describe-table*) echo "arn:aws:dynamodb:$AWS_REGION:123456789012:table/t/stream/2026";; esac; }
`;

/**
 * @param adapt changes the commands so that they work here
 * @param env added to this process's
 * @returns what each step printed to either stream, and the calls of programs that were not run
 */
export async function walk(
  steps: ReturnType<typeof stepsOf>,
  { adapt = (script) => script, env }: { adapt?: (script: string) => string; env: Record<string, string | undefined> },
) {
  const admin = await serveAdmin();
  const script = adapt(steps.map(({ commands }) => `${commands}\nprintf '\n@@@\n'`).join('\n'));
  const shell = spawn('bash', ['-c', `set -u\nRESTORED=$(mktemp -u)\n${PRELUDE}\nexec 2>&1\n${script}`], {
    cwd: root,
    env: { ...process.env, ...env, ADMIN_HERE: admin.url },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  const [[exitCode], output, called] = await Promise.all([
    once(shell, 'close'),
    textOf(shell.stdout as Readable),
    textOf(shell.stdio[3] as Readable),
  ]);
  admin.close();
  return {
    printed: output.split('\n@@@\n'),
    calls: called.split('\n').filter(Boolean),
    exitCode: exitCode as number | null,
  };
}

const PLACEHOLDERS: [what: RegExp, placeholder: string][] = [
  [/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?/g, '<time>'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>'],
  [/\b[0-9a-f]{16}\b/g, '<key id>'],
  [/\b\d{13}\b/g, '<ms>'],
  [/\d+ a second/g, '<rate> a second'],
  [/ +$/gm, ''],
  [/^\n+|\n+$/g, ''],
];
/** Output with placeholders for what differs from run to run. */
export const steady = (output: string) =>
  PLACEHOLDERS.reduce((text, [what, placeholder]) => text.replace(what, placeholder), output);
