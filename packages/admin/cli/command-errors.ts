import { CommanderError } from 'commander';
import { ApiError, ERROR_CODES, messageOf } from '../../../lib/http/errors.ts';
import { catalog as en } from '../../../lib/http/messages/en.ts';
import { EntryMissingError } from '../../../lib/operations/merge-alerts/entry.ts';
import { AlertsTooLargeError } from '../../../lib/operations/merge-alerts/move.ts';
import { isThrottled, isUnavailable } from '../../../lib/shared/concurrency.ts';
import { isRowTooLarge } from '../../../lib/table/write.ts';
import { EXIT } from '../../client/src/command/exit-codes.ts';
import { AccountError } from '../accounts/accounts.ts';
import { DataError } from '../data/check-lines.ts';
import { UndoError } from '../incidents/undo-merge.ts';
import { NoAnswerError } from '../local-service/answer-timeout.ts';
import { LetterError } from '../relay/replay-dead-letters.ts';
import { countText, printable } from '../text/printable.ts';
import { CliError, FoundError, UsageError } from './io.ts';

const CREDENTIAL_ERRORS = new Set([
  'CredentialsProviderError',
  'ExpiredToken',
  'ExpiredTokenException',
  'UnrecognizedClientException',
  'InvalidClientTokenId',
  'TokenProviderError',
]);
const ACCESS_ERRORS = new Set(['AccessDeniedException', 'AccessDenied', 'UnauthorizedOperation']);

/** The message and the exit code of a failure. The message is empty if commander has already printed it. */
export function failureOf(error: unknown, stopped: boolean): { line: string; exitCode: number } {
  if (stopped) return { line: 'Stopped. Run the same command again to finish.', exitCode: EXIT.stopped };
  if (error instanceof CommanderError) return { line: '', exitCode: error.exitCode === 0 ? 0 : EXIT.wrongUse };
  // The message for invalid data has a line for each problem, already escaped; any other message is one line.
  const line = error instanceof DataError ? error.message : printable(sentenceOf(error));
  return { line, exitCode: exitCodeOf(error) };
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError || isRegionWrong(error)) return EXIT.wrongUse;
  if (error instanceof FoundError) return EXIT.found;
  if (error instanceof CliError) return EXIT.failed;
  const isLater = error instanceof ApiError && [429, 500, 503].includes(ERROR_CODES[error.code].status);
  const isSilent = error instanceof NoAnswerError || isThrottled(error) || isUnavailable(error);
  return isLater || isSilent ? EXIT.unavailable : EXIT.failed;
}

/** AWS's configuration may name it, too, so only the SDK tells. */
export const isRegionWrong = (error: unknown) =>
  error instanceof Error && /region is missing|region not accepted/i.test(error.message);

/** The message of a failure, in one line. */
export function sentenceOf(error: unknown): string {
  if (error instanceof DataError) return `${countText(error.problems.length, 'problem')} in the data`;
  if (error instanceof CliError) return error.message;
  if (error instanceof ApiError && error.explanation?.name === 'mergesPending')
    return `${error.explanation.values.pending} large merges are pending: run \`merge finish\`, then the same command again.`;
  if (error instanceof ApiError) return messageOf(en, error);
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const firstLine = message.split('\n')[0] ?? '';
  if (error instanceof NoAnswerError) return `${firstLine}. Then run the same command again.`;
  if (error instanceof AccountError || error instanceof LetterError)
    return `${firstLine[0]?.toUpperCase()}${firstLine.slice(1)}.`;
  if (error instanceof AlertsTooLargeError)
    return `DynamoDB refuses to update the rows of alerts ${error.alertIds.join(', ')}: make them smaller than 398 KB, then run \`merge finish\`. All other alerts have been moved.`;
  if (error instanceof EntryMissingError) return `The ${firstLine}: run \`check\`, which finds what is missing.`;
  if (error instanceof UndoError) return `Cannot undo: ${firstLine}.`;
  if (name === 'AbortError') return 'Stopped before it finished.';
  if (CREDENTIAL_ERRORS.has(name)) return `No valid AWS credentials (${name}): log in, or set AWS_PROFILE.`;
  if (ACCESS_ERRORS.has(name)) return `AWS denied access: ${firstLine}`;
  if (name === 'ResourceNotFoundException') return 'Table not found: check --stack, --table, --region and --endpoint.';
  if (isRegionWrong(error)) return 'No valid region: pass --region or set AWS_REGION.';
  if (isRowTooLarge(error))
    return 'A row would exceed the 400 KB that DynamoDB allows: shorten its data, then run the same command again.';
  if (isThrottled(error)) return 'DynamoDB is throttling: run the same command again later.';
  if (isUnavailable(error))
    return `DynamoDB or another service of AWS does not respond (${(error as { code?: string }).code ?? name}): check the network, --endpoint and --region, then run the same command again.`;
  return `${name}: ${firstLine}`;
}
