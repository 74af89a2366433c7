import { CliError } from '../../admin/cli/io.ts';
import { shellWord } from '../../client/src/terminal-text.ts';
import { createApiClient, RUM } from './api-client.ts';
import type { Environment } from './environment.ts';
import { contract } from './sections/index.ts';

/**
 * Checks the environment: one call checks the app key, and another whether the data set of this run exists and is unused.
 * @throws CliError which says what to do
 */
export async function checkEnvironment(environment: Environment, run: string | undefined): Promise<void> {
  const { call, remove } = createApiClient(environment, contract);
  const { url, dataSet } = environment;
  try {
    const { status } = await call(RUM);
    if (status === 401) throw new CliError(`${url} does not accept this app key (401): check APP_KEY and --url.`);
    if (!dataSet) return;
    const { work_item_id, version } = dataSet.workItems.versioned;
    const { body } = await remove({ work_item_id, version: version - 1 });
    if (body.error?.code !== 'InvalidParameter')
      throw new CliError(
        `The account has no unused data of run "${run}": import it with \`npm run --silent certify -- --data ACCOUNT --run ${shellWord(run ?? '')} | npm run admin -- import -\`, or choose a new name for each run.`,
      );
  } catch (error) {
    // Other errors come from an answer that breaks the contract: the checks report it.
    if (error instanceof CliError) throw error;
  }
}
