/** Runs a document's blocks of commands in one shell, as if somebody pasted them one after the other. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { listen } from '../../../../test/support/listen.ts';
import { runCommand } from './run-admin.ts';

const root = new URL('../../../../', import.meta.url);

export interface Step {
  commands: string;
  /** Their output according to the document; empty where it shows none. */
  output: string;
}

/** Each block of commands of a text. */
export const stepsOf = (text: string): Step[] =>
  [...text.matchAll(/```sh\n(.*?)```(?:\n```(?:text|json)\n(.*?)```)?/gs)].map(([, commands = '', output = '']) => ({
    commands,
    output,
  }));

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Serves the operator's commands from this process, since starting a process takes longer than a command.
 * @returns the URL, which takes a command as a form and answers with lines of shell that print its output and return its exit code
 */
async function serveAdmin() {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request));
    const form = await new Response(body, {
      headers: { 'content-type': String(request.headers['content-type']) },
    }).formData();
    const variables = String(form.get('env')).split('\0').filter(Boolean);
    const env = Object.fromEntries(
      variables.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]),
    );
    const printing: string[] = [];
    const { exitCode } = await runCommand(form.getAll('argument').map(String), {
      stdin: String(form.get('stdin')),
      env,
      onOut: (text) => printing.push(`printf %s ${quoted(text)}`),
      onErr: (text) => printing.push(`printf %s ${quoted(text)} >&2`),
    });
    response.end([...printing, `return ${exitCode}`].join('\n'));
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, close: () => server.close() };
}

/**
 * Shell functions in place of programs. npm's own start takes half as long as a command: `npm` here only prints npm's banner and runs the
 * operator's command. Calls of other programs are only recorded. A table's status is CREATING when it is first asked for, then ACTIVE.
 */
const PRELUDE = `
admin_here() {
  local argument form=() answer
  for argument in "$@"; do form+=(--form-string "argument=$argument"); done
  answer=$(command curl -sS --fail "\${form[@]}" -F 'stdin=<-' -F env="<"<(env -0) "$ADMIN_HERE") || return
  eval "$answer"
}
npm() {
  case $* in
    "run --silent admin -- "*) shift 4; admin_here "$@";;
    "run admin -- "*) shift 3; printf '\\n> admin\\n\\n'; admin_here "$@";;
    *) echo "npm $*" >&3;;
  esac
}
npx() { echo "npx $*" >&3; }
aws() { echo "aws $*" >&3; case "$*" in *TableStatus*) [ -e "$RESTORED" ] && echo ACTIVE || { echo CREATING; : >"$RESTORED"; };; *describe-table*) echo arn:aws:dynamodb:eu-west-1:123456789012:table/t/stream/2026;; esac; }
`;

/**
 * @param adapt changes the commands so that they work here
 * @param env added to this process's
 * @returns what each step printed to either stream, and the calls of programs that were not run
 */
export async function walk(
  steps: readonly Step[],
  { adapt = (script) => script, env }: { adapt?: (script: string) => string; env: Record<string, string | undefined> },
): Promise<{ printed: string[]; calls: string[]; exitCode: number | null }> {
  const admin = await serveAdmin();
  const script = adapt(steps.map(({ commands }) => `${commands}\nprintf '\n@@@\n'`).join('\n'));
  const shell = spawn('bash', ['-c', `set -u\nRESTORED=$(mktemp -u)\n${PRELUDE}\nexec 2>&1\n${script}`], {
    cwd: root,
    env: { ...process.env, ...env, ADMIN_HERE: admin.url },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  let [output, called] = ['', ''];
  shell.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  shell.stdio[3]?.on('data', (chunk: Buffer) => {
    called += chunk.toString();
  });
  const exitCode = await new Promise<number | null>((resolve) => shell.once('close', resolve));
  admin.close();
  return { printed: output.split('\n@@@\n'), calls: called.split('\n').filter(Boolean), exitCode };
}

/** Output with placeholders for what differs from run to run: times, ids, keys, cursors, rates. */
export const steady = (output: string) =>
  output
    .replace(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?/g, '<time>')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>')
    .replace(/\b[0-9a-f]{16}\b/g, '<key id>')
    .replace(/…[\w-]+/g, '…<digits>')
    .replace(/\b\d{15}\b/g, '<sequence>')
    .replace(/\b\d{13}\b/g, '<ms>')
    .replace(/"next_cursor":"[^"]*"/g, '"next_cursor":"<cursor>"')
    .replace(/"(max_age_ms)":\d+/g, '"$1":<ms>')
    .replace(/\d+ a second/g, '<rate> a second')
    .replace(/[\d.]+ (s|min) old/g, '<age> old')
    .replace(/ +$/gm, '')
    .replace(/^\n+|\n+$/g, '');
