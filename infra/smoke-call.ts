import { Duration, SecretValue } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
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
import type { Monitoring } from './monitoring.ts';
import { createAlarm, whatToDo } from './stack-metrics.ts';

const INTERVAL = Duration.minutes(5);

export interface SmokeCallProps {
  /** Base address of the API. */
  readonly url: string;
  /** Name of the secret in Secrets Manager that has the app key. */
  readonly keySecret: string;
  readonly monitoring: Monitoring;
}

/** EventBridge calls the API as a customer does, through its public address: two failures in a row raise an alarm. */
export class SmokeCall extends Construct {
  constructor(scope: Construct, id: string, { url, keySecret, monitoring }: SmokeCallProps) {
    super(scope, id);
    const connection = new Connection(this, 'Connection', {
      // A connection must have an authorization. The service ignores this header: the app key is in the query string.
      authorization: Authorization.apiKey('X-Smoke-Call', SecretValue.unsafePlainText('scheduled')),
      queryStringParameters: { app_key: HttpParameter.fromSecret(SecretValue.secretsManager(keySecret)) },
    });
    const destination = new ApiDestination(this, 'Destination', {
      connection,
      endpoint: `${url}${getRumResource.path}`,
      httpMethod: HttpMethod.POST,
      rateLimitPerSecond: 1,
    });
    const rule = new Rule(this, 'Schedule', {
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
    const description = `Two scheduled calls in a row failed. ${whatToDo('SmokeFailed')}`;
    monitoring.notifyOf(createAlarm(this, 'Failed', description, failed, 1, 2));
  }
}
