import { stringifyJson } from './json.ts';

type Write = (message: string, fields: Record<string, unknown>) => void;

/** Writes structured log lines. They contain nothing that a caller sent, except ids. */
export type Log = Readonly<Record<'info' | 'warn' | 'error', Write>>;

/** The service's name in log lines and metrics. */
export const SERVICE = 'incident-monitoring-rum';

/**
 * Writes each line as JSON to standard output, with the fields that Lambda's JSON log format passes through unchanged.
 * @param mapFrames maps the frames of an `error_stack` to positions in the sources
 */
export function createLog(mapFrames: (frames: string[]) => string[] = (frames) => frames): Log {
  const writer =
    (level: string): Write =>
    (message, fields) => {
      const { error_stack } = fields as { error_stack?: string[] };
      const mapped = error_stack && { error_stack: mapFrames(error_stack) };
      const line = { level, message, timestamp: new Date().toISOString(), service: SERVICE, ...fields, ...mapped };
      process.stdout.write(`${stringifyJson(line)}\n`);
    };
  return { info: writer('INFO'), warn: writer('WARN'), error: writer('ERROR') };
}
