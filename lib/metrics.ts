import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';

/** Namespace of the service's own metrics, and their names: for the functions and for the alarms on them. */
export const METRICS = {
  namespace: 'IncidentMonitoringRum',
  calls: 'Calls',
  duration: 'Duration',
  events: 'Events',
} as const;

/** Something that an operator is to hear of. */
export type OperationalEvent =
  | 'caller_not_labelled'
  | 'account_without_gateway_key'
  | 'merge_left_pending'
  | 'merge_finished_late';

/** What the service counts; never by key or account. */
export interface MetricsSink {
  /** One answered call: by operation and by the code of its answer. */
  call(operation: string, code: string, durationMs: number): void;
  event(name: OperationalEvent): void;
}

/** Metrics in CloudWatch's embedded metric format, on standard output. */
export function createMetrics(): MetricsSink {
  const metrics = new Metrics({ namespace: METRICS.namespace, serviceName: 'incident-monitoring-rum' });
  return {
    call(operation, code, durationMs) {
      metrics.addDimensions({ operation, code });
      metrics.addMetric(METRICS.calls, MetricUnit.Count, 1);
      metrics.addMetric(METRICS.duration, MetricUnit.Milliseconds, durationMs);
      metrics.publishStoredMetrics();
    },
    event(name) {
      metrics.addDimensions({ event: name });
      metrics.addMetric(METRICS.events, MetricUnit.Count, 1);
      metrics.publishStoredMetrics();
    },
  };
}
