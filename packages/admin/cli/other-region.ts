/** The region that has written until now: its stack, whether it is fenced, and what waits in its feed. */
import { isEndpoint } from '../../../lib/aws/endpoint.ts';
import { withSignal } from '../../../lib/table/client.ts';
import { listAccounts } from '../accounts/accounts.ts';
import type { AdminCommand, Session } from './command.ts';
import { isRegionWrong, sentenceOf } from './command-errors.ts';
import { UsageError } from './io.ts';
import { connectTarget, type Target } from './target.ts';

export interface OtherRegionOptions {
  stack?: string;
  from: string;
  fromStack?: string;
}

export const withOtherRegion = (command: AdminCommand): AdminCommand =>
  command
    .requiredOption('--from <region>', 'the region that has written until now; of a table at --endpoint its URL there')
    .option('--from-stack <name>', 'the stack in that region (default: the name of --stack)')
    .allows('standby');

/** The stack or table of the other region, or why it does not answer. */
export type Other = Target | { readonly silence: string };

const ANSWER_MS = 10_000;

export async function connectOther({ io, table, target, options }: Session<OtherRegionOptions>): Promise<Other> {
  const { from, fromStack, stack } = options;
  if (from === target.region) throw new UsageError('--from must be the other region, not that of --region.');
  const place = isEndpoint(from)
    ? { endpoint: from, table: table.name }
    : { region: from, ...(stack === undefined ? { table: table.name } : { stack: fromStack ?? stack }) };
  try {
    const other = await connectTarget(place, io.env);
    if (other.table.name !== table.name)
      throw new UsageError(`${other.table.name} and ${table.name} are not replicas of one table.`);
    await listAccounts(withSignal(other.table, AbortSignal.timeout(ANSWER_MS)));
    return other;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (isRegionWrong(error)) throw new UsageError('--from must be a region, such as eu-west-1.');
    return { silence: sentenceOf(error) };
  }
}

/**
 * Whether a stack is a standby, by its last deployment, which has ended, and by what its API answers, unless a domain hides which region that
 * is or the API does not answer. A table without a stack counts as fenced.
 * @returns why it is not, as the end of a sentence; undefined: it is
 */
export async function whyNotFenced({ standby, isDeployed, url, outputs }: Target): Promise<string | undefined> {
  if (standby === undefined) return undefined;
  if (!standby) return 'still writes';
  if (!isDeployed) return 'is not fenced yet: the deployment of its stack has not ended';
  if (url === undefined || outputs?.has('DomainTarget')) return undefined;
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).then(
    (response) => response.text(),
    String,
  );
  return answer.includes('"standby":false') ? `still writes: ${url} answers so` : undefined;
}
