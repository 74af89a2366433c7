import { Duration, SecretValue } from 'aws-cdk-lib';
import { type Alarm, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import {
  ApiDestination,
  Authorization,
  Connection,
  HttpMethod,
  HttpParameter,
  type IApiDestination,
  Rule,
  RuleTargetInput,
  Schedule,
} from 'aws-cdk-lib/aws-events';
import { ApiDestination as ApiDestinationTarget } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import { getRumResource } from '../lib/http/operations.ts';
import { createAlarm, whatToDo } from './stack-metrics.ts';

const INTERVAL = Duration.minutes(5);

/**
 * EventBridge calls the API as a customer does, through its public address.
 * @param url base address of the API
 * @param keySecret name of the secret in Secrets Manager that has the app key
 * @returns the alarm that is raised by two failures in a row
 */
export function addSmokeCall(parent: Construct, url: string, keySecret: string): Alarm {
  const scope = new Construct(parent, 'Smoke');
  const connection = new Connection(scope, 'Connection', {
    // A connection must have an authorization. The service ignores this header: the app key is in the query string.
    authorization: Authorization.apiKey('X-Smoke-Call', SecretValue.unsafePlainText('scheduled')),
    queryStringParameters: { app_key: HttpParameter.fromSecret(SecretValue.secretsManager(keySecret)) },
  });
  const destination = new ApiDestination(scope, 'Destination', {
    connection,
    endpoint: `${url}${getRumResource.path}`,
    httpMethod: HttpMethod.POST,
    rateLimitPerSecond: 1,
  });
  const rule = new Rule(scope, 'Schedule', {
    description: 'Call the API as a customer does',
    schedule: Schedule.rate(INTERVAL),
    targets: [
      // aws-cdk-lib is compiled without exactOptionalPropertyTypes, so its class is not assignable to its own interface.
      new ApiDestinationTarget(destination as IApiDestination, {
        event: RuleTargetInput.fromObject({}),
        retryAttempts: 0,
      }),
    ],
  });
  const failed = new Metric({
    namespace: 'AWS/Events',
    metricName: 'FailedInvocations',
    dimensionsMap: { RuleName: rule.ruleName },
    statistic: Stats.SUM,
    period: INTERVAL,
  });
  return createAlarm(scope, 'Failed', `Two scheduled calls in a row failed. ${whatToDo('SmokeFailed')}`, failed, 1, 2);
}
