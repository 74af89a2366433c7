import { AccessLogField, AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';

/** Fields of an access log line: an allow-list without query string or key. */
export const ACCESS_LOG_FORMAT = AccessLogFormat.custom(
  JSON.stringify({
    request_id: AccessLogField.contextRequestId(),
    // A client may choose `request_id` with the header x-amzn-RequestId; this one is API Gateway's own.
    extended_request_id: AccessLogField.contextExtendedRequestId(),
    time: AccessLogField.contextRequestTime(),
    method: AccessLogField.contextHttpMethod(),
    resource: AccessLogField.contextResourcePath(),
    status: AccessLogField.contextStatus(),
    source_ip: AccessLogField.contextIdentitySourceIp(),
    account_id: AccessLogField.contextAuthorizerPrincipalId(),
    latency_ms: AccessLogField.contextResponseLatency(),
    error: AccessLogField.contextErrorResponseType(),
    // Of Lambda's answer to API Gateway, for the function and for the authorizer: a throttled one has 429.
    integration_status: AccessLogField.contextIntegrationStatus(),
    integration_latency_ms: AccessLogField.contextIntegrationLatency(),
    integration_error: AccessLogField.contextIntegrationErrorMessage(),
    authorizer_status: AccessLogField.contextAuthorizerStatus(),
    authorizer_latency_ms: AccessLogField.contextAuthorizerLatency(),
    authorizer_error: AccessLogField.contextAuthorizerError(),
  }),
);
