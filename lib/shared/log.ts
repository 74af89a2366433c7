/** Log lines and metrics, both on standard output. */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
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

/** Names of the service's own metrics, for functions and alarms. A stack adds `/` and its name to the namespace. */
export const METRICS = {
  namespace: 'IncidentMonitoringRum',
  calls: 'Calls',
  duration: 'Duration',
  events: 'Events',
  records: 'Records',
  late: 'LateRecords',
  refused: 'RefusedRecords',
  failed: 'FailedRecords',
} as const;

/** Something that an operator must know. `refused_by_setting`: a call of what a setting has switched off. */
export type OperationalEvent =
  | 'account_without_gateway_key'
  | 'merge_left_pending'
  | 'merge_finished_late'
  | 'refused_by_setting';

/** How many records of the ingest queue were handled. */
export interface RecordCounts {
  /** Records that did not fail and were not refused. */
  records: number;
  /** How many of `records` were not newer than the stored rows, and changed nothing. */
  late: number;
  refused: number;
  /** Their messages are received again. */
  failed: number;
}

/** The service's metrics. No dimension is an app key or an account. */
export interface MetricsSink {
  /** Counts an answered call, by its operation and the code of its answer. */
  call(operation: string, code: string, durationMs: number): void;
  event(name: OperationalEvent): void;
  records(counts: RecordCounts): void;
}

/**
 * Writes each metric as a line on standard output in CloudWatch's embedded metric format. CloudWatch reads them from the log.
 * Source: CloudWatch User Guide, "Specification: Embedded metric format".
 */
export function createMetrics(namespace: string = METRICS.namespace, now = Date.now): MetricsSink {
  /**
   * Writes a line.
   * @param dimensionSets sets of names of dimensions: CloudWatch makes a metric of each value for each set
   */
  function emit(dimensionSets: string[][], dimensions: Record<string, string>, values: Record<string, number>): void {
    const Metrics = Object.keys(values).map((Name) => ({
      Name,
      Unit: Name === METRICS.duration ? 'Milliseconds' : 'Count',
    }));
    const CloudWatchMetrics = [{ Namespace: namespace, Dimensions: dimensionSets, Metrics }];
    const line = { _aws: { Timestamp: now(), CloudWatchMetrics }, service: SERVICE, ...dimensions, ...values };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
  return {
    call(operation, code, durationMs) {
      const values = { [METRICS.calls]: 1, [METRICS.duration]: durationMs };
      emit([['service', 'operation', 'code']], { operation, code }, values);
    },
    records({ records, late, refused, failed }) {
      const ofIngest = { [METRICS.late]: late, [METRICS.refused]: refused, [METRICS.failed]: failed };
      emit([['service']], {}, { [METRICS.records]: records, ...ofIngest });
    },
    event: (name) => emit([['service', 'event']], { event: name }, { [METRICS.events]: 1 }),
  };
}

const POSITION = /(file:\/\/\S+\.m?js):(\d+):(\d+)/;
const maps = new Map<string, SourceMap | undefined>();

/** The source map next to a bundled file; undefined if there is none, as when the sources run without a bundle. */
function mapOf(url: string): SourceMap | undefined {
  if (!maps.has(url))
    try {
      maps.set(url, new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8'))));
    } catch {
      maps.set(url, undefined);
    }
  return maps.get(url);
}

/** The path of a source relative to the repository, wherever it is checked out. */
export const inRepository = (source: string): string =>
  source.replace(/^(?:.*?(?=node_modules\/)|.*\/(?=(?:lib|functions|infra)\/))/, '');

/**
 * Maps the frames of a stack to positions in the sources. It reads the map only when an error is logged: Node's own
 * `--enable-source-maps` reads it at every start, which makes a cold start a fifth longer.
 */
export const originalFrames = (frames: readonly string[]): string[] =>
  frames.map((frame) => {
    const [position, url = '', line, column] = POSITION.exec(frame) ?? [];
    const entry = position && mapOf(url)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (!entry || !('originalSource' in entry)) return frame;
    const source = inRepository(entry.originalSource);
    return frame.replace(POSITION, `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`);
  });
