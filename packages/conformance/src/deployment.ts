/** A running service, local or on AWS, with accounts created for the certificate. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CliError, UsageError } from '../../admin/cli/io.ts';
import { type Caller, createTurns } from './callers.ts';
import { entitiesOf } from './data.ts';
import type { Lab } from './lab.ts';
import { Broken } from './outcome.ts';
import { createTrial, RUM } from './trial.ts';

/** Prompts for the key without echoing it. */
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

const callerOf = (appKey: string | undefined): Caller | undefined => (appKey ? { appKey } : undefined);

/**
 * @param env holds the app keys; one that was asked for is put there
 * @param run names the data set that was imported; absent: only what needs no data is shown
 * @throws UsageError
 */
export async function openLab(
  url: string,
  run: string | undefined,
  env: Record<string, string | undefined>,
): Promise<Lab> {
  if (!URL.canParse(url)) throw new UsageError(`--url must be an address such as http://127.0.0.1:3000, not "${url}".`);
  const main = { appKey: env.APP_KEY ?? (await askForKey()) };
  env.APP_KEY = main.appKey;
  if (main.appKey === '') throw new UsageError('The app key is empty: set APP_KEY to the key of an account.');
  const lab: Lab = {
    url: url.replace(/\/$/, ''),
    main,
    turns: createTurns([main]),
    otherAccount: callerOf(env.OTHER_APP_KEY),
    expired: callerOf(env.EXPIRED_APP_KEY),
    ...(run !== undefined && { entities: entitiesOf(run), spare: { minute: main, second: main, burst: main } }),
  };
  return lab;
}

/**
 * One call to check the key, one to check that the data exists and is unused. An answer that breaks the contract is left to
 * the sentences.
 * @throws CliError
 */
export async function checkLab(lab: Lab, run: string | undefined): Promise<void> {
  try {
    await checkFirst(lab, run);
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
  }
}

async function checkFirst(lab: Lab, run: string | undefined): Promise<void> {
  const trial = createTrial(lab, new Map());
  const { status } = await trial.call(RUM);
  if (status === 401) throw new CliError(`${lab.url} does not accept this app key (401): check APP_KEY and --url.`);
  if (!lab.entities) return;
  const { work_item_id, version } = lab.entities.workItems.versioned;
  const { body } = await trial.remove({ work_item_id, version: version - 1 });
  if (body.error?.code !== 'InvalidParameter')
    throw new CliError(
      `The account has no unused data of run "${run}": import it with \`npm run --silent certify -- --data ACCOUNT --run ${run} | npm run admin -- import -\`, or choose a new name for each run.`,
    );
}
