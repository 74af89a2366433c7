/** What the checks need: a service, app keys, data, and access that only a local service offers. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { UsageError } from '../../admin/cli/io.ts';
import type { Failure } from '../../local/failing-table.ts';
import { type DataSet, dataSetOf } from './data.ts';

/** An account whose rows can be read and written without the service. */
export interface LocalAccount {
  readonly table: Table;
  readonly account: Int64;
  readonly appKey: string;
}

export type Defect = Failure | 'no service map';

export interface Environment {
  readonly url: string;
  /** The app key of the certified account. */
  readonly appKey: string;
  /** Waits on the clock of the service. */
  readonly wait: (ms: number) => Promise<void>;
  /** The ids of the data set. Absent: only requirements that need no data are checked. */
  readonly dataSet?: DataSet;
  /** The app key of an account without the permission for the fleet. */
  readonly otherKey?: string | undefined;
  /** An expired app key of the certified account. */
  readonly expiredKey?: string | undefined;
  /** The certified account, with access to its rows. */
  readonly tableAccess?: LocalAccount;
  /** Accounts with the permission for the fleet, whose rows checks may change. No two checks change the same rows. */
  readonly furtherAccounts?: {
    /** Its RUM record changes, but not its usage. */
    readonly recordAccount: LocalAccount;
    /** Its RUM usage and its hosts change. */
    readonly usageAccount: LocalAccount;
  };
  /** Starts a service with this defect, unless it is already running. @returns its URL */
  readonly startDefective?: (defect: Defect) => Promise<string>;
}

/** A check that cannot be made in this environment. The message gives the reason. */
export class Skipped extends Error {}

/** Why a check is skipped if the environment lacks one of these. */
export const NEEDS = {
  dataSet: 'needs the data set of a run',
  otherKey: 'needs OTHER_APP_KEY, of an account without the permission',
  expiredKey: 'needs EXPIRED_APP_KEY',
  furtherAccounts: 'needs a further account, or to change its rows: checked by `npm test`',
  tableAccess: 'what is stored cannot be read over HTTP: checked by `npm test`',
  startDefective: 'needs a service that fails (`npm start -- --fail`): checked by `npm test`',
} satisfies Partial<Record<keyof Environment, string>>;

/** Asks for the app key without showing what is typed. */
async function askForKey(): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageError('No app key given: set APP_KEY.');
  process.stderr.write('App key: ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return (await prompt.question('')).trim();
  } finally {
    prompt.close();
    process.stderr.write('\n');
  }
}

/**
 * The environment of a running service.
 * @param run names the imported data set; absent: only requirements that need no data are checked
 * @param env holds the app keys; a key that was asked for is stored there, for the process of the tests
 * @throws UsageError
 */
export async function deployedEnvironment(
  url: string,
  run: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<Environment> {
  if (!URL.canParse(url)) throw new UsageError(`--url must be an address such as http://127.0.0.1:3000, not "${url}".`);
  // An empty variable counts as not set.
  env.APP_KEY ||= await askForKey();
  const appKey = env.APP_KEY;
  if (appKey === '') throw new UsageError('The app key is empty: set APP_KEY to the key of an account.');
  return {
    url: url.replace(/\/$/, ''),
    wait: (ms) => setTimeout(ms),
    appKey,
    otherKey: env.OTHER_APP_KEY || undefined,
    expiredKey: env.EXPIRED_APP_KEY || undefined,
    ...(run !== undefined && { dataSet: dataSetOf(run) }),
  };
}
