/** The access log: it has a line for each call, whether a function or API Gateway itself answered it. */
import { AccessLogField, AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { type Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import {
  FilterPattern,
  type IFilterPattern,
  type ILogGroup,
  type JsonPattern,
  MetricFilter,
} from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { operations } from '../lib/http/operations.ts';
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

const byResource = (comparison: '=' | '!=') =>
  operations.map(({ path }) => FilterPattern.stringValue('$.resource', comparison, path));

/** Matches lines of calls to operations. */
export const OPERATION_LINES: JsonPattern = FilterPattern.any(...byResource('='));
/** Matches lines of calls to other paths. */
export const OTHER_LINES: JsonPattern = FilterPattern.all(...byResource('!='));
/** Matches lines of calls to operations that were answered with this status, such as `429` or `5*`. */
export const answeredWith = (status: string): JsonPattern =>
  FilterPattern.all(OPERATION_LINES, FilterPattern.stringValue('$.status', '=', status));

/**
 * Counts lines of the access log.
 * @param dimensions for separate counts: the field of each dimension, such as `$.resource`
 * @returns the metric with the number of lines
 */
export const addLineCount = (
  scope: Construct,
  accessLog: ILogGroup,
  metricName: string,
  filterPattern: IFilterPattern,
  dimensions?: Record<string, string>,
): Metric =>
  new MetricFilter(scope, metricName, {
    logGroup: accessLog,
    filterPattern,
    metricNamespace: metricsNamespace,
    metricName,
    metricValue: '1',
    // CloudWatch accepts a default value only without dimensions.
    ...(dimensions ? { dimensions } : { defaultValue: 0 }),
  }).metric({ statistic: Stats.SUM });
