const nothing = () => undefined;

/**
 * Log and metrics for the service's operations that a command runs itself: they write nothing, since the command prints
 * its own messages.
 */
export const SILENT = {
  log: { info: nothing, warn: nothing, error: nothing },
  metrics: { call: nothing, event: nothing, records: nothing },
};
