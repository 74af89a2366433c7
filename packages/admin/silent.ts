const nothing = () => undefined;

/** Log and metrics of operations that a command runs itself: it prints its own messages. */
export const SILENT = {
  log: { info: nothing, warn: nothing, error: nothing },
  metrics: { call: nothing, event: nothing, records: nothing },
};
