/** The access log: it has a line for each call, whether a function or API Gateway itself answered it. */
import { AccessLogField, AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { type Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type ILogGroup, type JsonPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { ListedOperation } from '../lib/operations/index.ts';
import { chunksOf } from '../lib/shared/concurrency.ts';
import { metricsNamespace } from './stack-metrics.ts';

/** The fields of a line. None contains the query string, which has the app key. */
export const ACCESS_LOG_FORMAT = AccessLogFormat.custom(
  JSON.stringify({
    request_id: AccessLogField.contextRequestId(),
    // A caller can choose `request_id` with the header x-amzn-RequestId, but not this id.
    extended_request_id: AccessLogField.contextExtendedRequestId(),
    time: AccessLogField.contextRequestTime(),
    method: AccessLogField.contextHttpMethod(),
    resource: AccessLogField.contextResourcePath(),
    status: AccessLogField.contextStatus(),
    source_ip: AccessLogField.contextIdentitySourceIp(),
    account_id: AccessLogField.contextAuthorizerPrincipalId(),
    // The id of a key that the table has, but that has expired or is revoked, or whose account is suspended; otherwise `-`.
    refused_app_key: AccessLogField.contextAuthorizer('refused'),
    latency_ms: AccessLogField.contextResponseLatency(),
    error: AccessLogField.contextErrorResponseType(),
    // The fields below describe Lambda's answers to API Gateway: 429 means that Lambda throttled the function or the authorizer.
    integration_status: AccessLogField.contextIntegrationStatus(),
    integration_latency_ms: AccessLogField.contextIntegrationLatency(),
    integration_error: AccessLogField.contextIntegrationErrorMessage(),
    authorizer_status: AccessLogField.contextAuthorizerStatus(),
    authorizer_latency_ms: AccessLogField.contextAuthorizerLatency(),
    authorizer_error: AccessLogField.contextAuthorizerError(),
  }),
);

/** Matches lines of calls that were answered with this status, such as `429` or `5*`. */
export const answeredWith = (status: string): JsonPattern => FilterPattern.stringValue('$.status', '=', status);

/** Matches the lines of callers whose key was once issued, and is refused. Strangers cannot cause them. */
export const REFUSED_KEY_LINES = FilterPattern.all(
  answeredWith('401'),
  FilterPattern.stringValue('$.refused_app_key', '!=', '-'),
);

/** Counts lines of the access log. @returns the metric with the number of lines */
export function addLineCount(
  scope: Construct,
  logGroup: ILogGroup,
  metricName: string,
  ...filterPatterns: readonly JsonPattern[]
): Metric {
  const [filter] = filterPatterns.map(
    (filterPattern, index) =>
      new MetricFilter(scope, `${metricName}${index || ''}`, {
        logGroup,
        filterPattern,
        metricNamespace: metricsNamespace,
        metricName,
        metricValue: '1',
        defaultValue: 0,
      }),
  );
  if (!filter) throw new Error(`${metricName} has no filter pattern`);
  return filter.metric({ statistic: Stats.SUM });
}

/** A filter pattern has at most 1,024 characters: ten paths of up to 70, and a status. Several filters add up to one metric. */
const PATHS_PER_FILTER = 10;

/** Counts calls to operations in the access log, all or those that `pattern` matches. @returns the metric with their number */
export const addCallCount = (
  scope: Construct,
  logGroup: ILogGroup,
  metricName: string,
  called: readonly ListedOperation[],
  pattern?: JsonPattern,
): Metric =>
  addLineCount(
    scope,
    logGroup,
    metricName,
    ...chunksOf(called, PATHS_PER_FILTER).map((some) => {
      const lines = FilterPattern.any(...some.map(({ path }) => FilterPattern.stringValue('$.resource', '=', path)));
      return pattern ? FilterPattern.all(lines, pattern) : lines;
    }),
  );
