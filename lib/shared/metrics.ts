import { SERVICE } from './log.ts';

/** Names of the service's own metrics, for functions and alarms. A stack adds `/` and its name to the namespace. */
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

/** Error codes that are the service's failures: a rollout compares how often each version answers them. */
const FAILURE_CODES: ReadonlySet<string> = new Set(['InternalError', 'ServiceUnavailable']);

/** Something that an operator must know. */
export type OperationalEvent = 'account_without_gateway_key' | 'merge_left_pending' | 'merge_finished_late';

export interface RecordCounts {
  records: number;
  late: number;
  refused: number;
}

/** The service's metrics. None is by app key or account. */
export interface MetricsSink {
  /** One answered call, by its operation and the code of its answer. */
  call(operation: string, code: string, durationMs: number): void;
  event(name: OperationalEvent): void;
  /** Records of the ingest queue. `late` ones were not newer than the stored rows, and changed nothing. */
  records(counts: RecordCounts): void;
}

/**
 * Writes each metric as a line on standard output in CloudWatch's embedded metric format. CloudWatch reads them from the log.
 * Source: CloudWatch User Guide, "Specification: Embedded metric format".
 */
export function createMetrics({
  namespace = METRICS.namespace,
  version,
  now = Date.now,
}: {
  namespace?: string | undefined;
  /** The function's version, if calls may be served by several; only then failures are counted, in all and by version. */
  version?: string | undefined;
  now?: () => number;
} = {}): MetricsSink {
  const emit = (dimensions: Record<string, string>, metrics: Record<string, [unit: string, value: number]>) => {
    const names = Object.entries(metrics).map(([Name, [Unit]]) => ({ Name, Unit }));
    const values = Object.fromEntries(Object.entries(metrics).map(([name, [, value]]) => [name, value]));
    const ofService = { service: SERVICE, ...dimensions };
    const directives = [{ Namespace: namespace, Dimensions: [Object.keys(ofService)], Metrics: names }];
    writeLine(directives, { ...ofService, ...values });
  };
  const writeLine = (CloudWatchMetrics: object[], members: Record<string, unknown>) =>
    process.stdout.write(`${JSON.stringify({ _aws: { Timestamp: now(), CloudWatchMetrics }, ...members })}\n`);
  const countFailure = (operation: string) => {
    const dimensions = ['service', 'operation'];
    const directive = {
      Namespace: namespace,
      Dimensions: [dimensions, [...dimensions, 'version']],
      Metrics: [{ Name: METRICS.failed, Unit: 'Count' }],
    };
    writeLine([directive], { service: SERVICE, operation, version, [METRICS.failed]: 1 });
  };
  return {
    call(operation, code, durationMs) {
      emit({ operation, code }, { [METRICS.calls]: ['Count', 1], [METRICS.duration]: ['Milliseconds', durationMs] });
      if (version !== undefined && FAILURE_CODES.has(code)) countFailure(operation);
    },
    records: (counts) =>
      emit(
        {},
        Object.fromEntries(
          Object.entries(counts).map(([name, value]) => [METRICS[name as keyof RecordCounts], ['Count', value]]),
        ),
      ),
    event: (name) => emit({ event: name }, { [METRICS.events]: ['Count', 1] }),
  };
}
