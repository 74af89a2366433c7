import { AccessLogField, AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';

/** The fields of a line in the access log. None holds the query string, which has the app key. */
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
