import { SERVICE } from './log.ts';

/** Namespace of the service's own metrics, which a stack's name follows, and their names: for the functions and for the alarms on them. */
export const METRICS = {
  namespace: 'IncidentMonitoringRum',
  calls: 'Calls',
  duration: 'Duration',
  events: 'Events',
  failed: 'Failed',
  records: 'Records',
  late: 'LateRecords',
  refused: 'RefusedRecords',
} as const;

/** Codes of answers that a worse version gives more often. */
const FAILURES: ReadonlySet<string> = new Set(['InternalError', 'ServiceUnavailable']);

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
export function createMetrics({
  namespace = METRICS.namespace,
  version,
  now = Date.now,
}: {
  namespace?: string | undefined;
  /** Of the function, where several versions serve calls: a rollout compares their failures. */
  version?: string | undefined;
  now?: () => number;
} = {}): MetricsSink {
  const line = (dimensions: Record<string, string>, metrics: Record<string, [unit: string, value: number]>) => {
    const names = Object.entries(metrics).map(([Name, [Unit]]) => ({ Name, Unit }));
    const values = Object.fromEntries(Object.entries(metrics).map(([name, [, value]]) => [name, value]));
    const ofService = { service: SERVICE, ...dimensions };
    const directives = [{ Namespace: namespace, Dimensions: [Object.keys(ofService)], Metrics: names }];
    write(directives, { ...ofService, ...values });
  };
  const write = (CloudWatchMetrics: object[], members: Record<string, unknown>) =>
    process.stdout.write(`${JSON.stringify({ _aws: { Timestamp: now(), CloudWatchMetrics }, ...members })}\n`);
  const failure = (operation: string) => {
    const all = ['service', 'operation'];
    const directive = {
      Namespace: namespace,
      Dimensions: [all, [...all, 'version']],
      Metrics: [{ Name: METRICS.failed, Unit: 'Count' }],
    };
    write([directive], { service: SERVICE, operation, version, [METRICS.failed]: 1 });
  };
  return {
    call(operation, code, durationMs) {
      line({ operation, code }, { [METRICS.calls]: ['Count', 1], [METRICS.duration]: ['Milliseconds', durationMs] });
      if (version !== undefined && FAILURES.has(code)) failure(operation);
    },
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
