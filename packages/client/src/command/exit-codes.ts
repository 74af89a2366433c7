/** Exit codes of all commands and examples. docs/api.md lists them. */
import { ConnectionError, ServiceError, UnexpectedAnswerError } from '../client-errors.ts';

export const EXIT = {
  /** Refused by the service, or failed. */
  failed: 1,
  /** An argument, an environment variable or an input file is wrong: nothing was sent. */
  wrongUse: 2,
  /** A check has found something. */
  found: 3,
  /** The service cannot be reached, is busy, or has failed. */
  unavailable: 4,
  /** Ctrl-C. */
  stopped: 130,
} as const;

/** The exit code after a failed call. */
export function exitCodeOf(error: unknown): number {
  const status = error instanceof ServiceError || error instanceof UnexpectedAnswerError ? error.status : 0;
  return error instanceof ConnectionError || status === 429 || status >= 500 ? EXIT.unavailable : EXIT.failed;
}
