import { SERVICE } from './log.ts';

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

/** Something that an operator must know. */
export type OperationalEvent = 'account_without_gateway_key' | 'merge_left_pending' | 'merge_finished_late';

/** How many records of the ingest queue were handled. */
export interface RecordCounts {
  /** Those that did not fail and were not refused. */
  records: number;
  /** Those of them that were not newer than the stored rows, and changed nothing. */
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
export function createMetrics({
  namespace = METRICS.namespace,
  now = Date.now,
}: {
  namespace?: string | undefined;
  now?: () => number;
} = {}): MetricsSink {
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
      const ofFeed = { [METRICS.late]: late, [METRICS.refused]: refused, [METRICS.failed]: failed };
      emit([['service']], {}, { [METRICS.records]: records, ...ofFeed });
    },
    event: (name) => emit([['service', 'event']], { event: name }, { [METRICS.events]: 1 }),
  };
}
