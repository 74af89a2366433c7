/** The tools for operators. Each runs the service's admin command in a child process, with the AWS credentials of the environment. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { parseJson } from '../../client/src/json.ts';
import { int64, type Tool, tool } from './tool.ts';

const TIMEOUT_MS = 50_000;

const OBJECT_ID = { type: 'string', pattern: '^[0-9a-fA-F]{24}$' };
/** The ids are arguments of one command line, whose length is limited. */
const MAX_ALERTS = 1_000;

interface Operator {
  /** Folder with the service's source, in which `npm ci` has been run. */
  readonly folder: string;
  /** Absent: the service that `npm start` runs. */
  readonly stack: string | undefined;
  readonly region: string | undefined;
}

/** The Node that `npm ci` installs in the service's folder, if there is one for this system; otherwise the Node that runs this server. */
function nodeOf(folder: string): string {
  const isWindows = process.platform === 'win32';
  const name = `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
  const installed = resolve(folder, 'node_modules', name, 'bin', isWindows ? 'node.exe' : 'node');
  return existsSync(installed) ? installed : process.execPath;
}

export function operatorTools({ folder, stack, region }: Operator): Tool[] {
  const target = [
    ...(stack === undefined ? [] : ['--stack', stack]),
    ...(region === undefined ? [] : ['--region', region]),
  ];
  /** @throws Error with what the command wrote to standard error */
  async function admin(command: readonly string[], values: readonly string[], signal: AbortSignal): Promise<unknown> {
    // Not `npm run admin`: on Windows npm is a shell script, and a shell would interpret the values.
    const args = [resolve(folder, 'packages/admin/cli/admin.ts'), ...command, '--json', ...target, '--', ...values];
    const { stdout } = await promisify(execFile)(nodeOf(folder), args, {
      cwd: folder,
      signal,
      timeout: TIMEOUT_MS,
      maxBuffer: 16 * 1024 * 1024,
    }).catch((error: Error & { stderr?: string }) => {
      throw new Error(error.stderr?.trim() || error.message);
    });
    return parseJson(stdout);
  }
  return [
    tool({
      name: 'operator_status',
      description:
        'For operators: whether the service answers, its calls and failures, latency, pending merges, dead letters, alarms, app keys that expire soon. A part that could not be read has an error in place of its value.',
      inputSchema: { type: 'object', properties: {} },
      run: (_args, signal) => admin(['status'], [], signal),
    }),
    tool({
      name: 'operator_find',
      description:
        'For operators: find what an id names, in all accounts: host, alert, incident, work item, app key, account, or the request_id of a merge.',
      inputSchema: {
        type: 'object',
        properties: { id: { type: 'string', minLength: 1, maxLength: 256, description: '1 to 256 characters' } },
        required: ['id'],
      },
      run: ({ id }, signal) => admin(['find'], [String(id)], signal),
    }),
    tool({
      name: 'operator_merge_preview',
      description:
        'For operators: what a merge of alerts into an incident would move, and from which incident each alert. Merges nothing.',
      inputSchema: {
        type: 'object',
        properties: {
          account_id: int64({ minimum: 1, description: 'of the incident; operator_find returns it' }),
          incident_id: OBJECT_ID,
          alert_ids: { type: 'array', items: OBJECT_ID, minItems: 1, maxItems: MAX_ALERTS },
        },
        required: ['account_id', 'incident_id', 'alert_ids'],
      },
      run: ({ account_id, incident_id, alert_ids }, signal) => {
        const command = ['merge', 'alerts', '--dry-run', '--account', String(account_id)];
        return admin(command, [String(incident_id), ...(alert_ids as string[])], signal);
      },
    }),
  ];
}
