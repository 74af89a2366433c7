import { SERVICE } from './log.ts';

/** Namespace of the service's own metrics, which a stack's name follows, and their names: for the functions and for the alarms on them. */
export const METRICS = {
  namespace: 'IncidentMonitoringRum',
  calls: 'Calls',
  duration: 'Duration',
  events: 'Events',
  records: 'Records',
  late: 'LateRecords',
  refused: 'RefusedRecords',
} as const;

/** Something that an operator must know. */
export type OperationalEvent = 'account_without_gateway_key' | 'merge_left_pending' | 'merge_finished_late';

export interface RecordCounts {
  records: number;
  late: number;
  refused: number;
}

/** What the service counts; never by key or account. */
export interface MetricsSink {
  /** One answered call: by operation and by the code of its answer. */
  call(operation: string, code: string, durationMs: number): void;
  event(name: OperationalEvent): void;
  /** Records of the feed: taken, of them late ones, and refused ones. */
  records(counts: RecordCounts): void;
}

/**
 * Metrics in CloudWatch's embedded metric format, a line each on standard output: CloudWatch reads them from the log.
 * Source: CloudWatch User Guide, "Specification: Embedded metric format".
 */
export function createMetrics(namespace: string = METRICS.namespace, now: () => number = Date.now): MetricsSink {
  const line = (dimensions: Record<string, string>, metrics: Record<string, [unit: string, value: number]>) => {
    const names = Object.entries(metrics).map(([Name, [Unit]]) => ({ Name, Unit }));
    const values = Object.fromEntries(Object.entries(metrics).map(([name, [, value]]) => [name, value]));
    const ofService = { service: SERVICE, ...dimensions };
    const directive = { Namespace: namespace, Dimensions: [Object.keys(ofService)], Metrics: names };
    const embedded = { _aws: { Timestamp: now(), CloudWatchMetrics: [directive] }, ...ofService, ...values };
    process.stdout.write(`${JSON.stringify(embedded)}\n`);
  };
  return {
    call: (operation, code, durationMs) =>
      line({ operation, code }, { [METRICS.calls]: ['Count', 1], [METRICS.duration]: ['Milliseconds', durationMs] }),
    records: (counts) =>
      line(
        {},
        Object.fromEntries(
          Object.entries(counts).map(([name, value]) => [METRICS[name as keyof RecordCounts], ['Count', value]]),
        ),
      ),
    event: (name) => line({ event: name }, { [METRICS.events]: ['Count', 1] }),
  };
}
