/** A failure that the user can fix: its message is the one line to show. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
