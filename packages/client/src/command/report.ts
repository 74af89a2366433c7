/** Says why a command failed. */
import { ApiError, ConnectionError, ServiceError } from '../client-errors.ts';
import { jsonText } from '../json.ts';
import { shellWord } from '../terminal-text.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { InterruptedError, StoppedError, UsageError, warn } from './output.ts';

/** What to do about a failure, with nothing of the service that a shell could interpret; undefined if the message says what to do. */
function adviceOn(error: ApiError): string | undefined {
  // Without its key, a repeated merge could be done twice.
  if (error.idempotencyKey !== undefined && !(error instanceof ServiceError && error.status < 500))
    return `The merge may have been done. Repeat it with --idempotency-key=${shellWord(error.idempotencyKey)}`;
  if (error.cursor !== undefined) return `Resume with --cursor=${shellWord(error.cursor)}`;
  if (error instanceof ConnectionError) return 'Check BASE_URL and the network.';
  if (error instanceof ServiceError && error.code === 'Unauthorized') return 'Check APP_KEY and BASE_URL.';
  if (error instanceof ServiceError && error.retryAfter !== undefined) return `Try again in ${error.retryAfter} s.`;
  return undefined;
}

/** Prints what failed. @returns the exit code */
export function report(failure: unknown, json: boolean): number {
  const { cause: error, advice: wayOn } = failure instanceof InterruptedError ? failure : { cause: failure };
  const refusal = error instanceof ServiceError ? error : undefined;
  const advice =
    [error instanceof ApiError ? adviceOn(error) : undefined, wayOn].filter(Boolean).join(' ') || undefined;
  const wrongUsage = error instanceof UsageError;
  const code = refusal?.code ?? (wrongUsage ? 'Usage' : error instanceof Error ? error.name : 'Error');
  const message = error instanceof Error ? error.message : String(error);
  if (json) {
    warn(jsonText({ error: { code, message, request_id: refusal?.requestId, advice } }));
  } else {
    const request = refusal && ` (request ${refusal.requestId})`;
    warn(`${code}: ${message}${request ?? ''}`);
    if (advice !== undefined) warn(advice);
    if (wrongUsage) warn('See incident-monitoring-rum-client --help');
  }
  if (error instanceof StoppedError) return EXIT.stopped;
  return wrongUsage ? EXIT.wrongUse : exitCodeOf(error);
}
