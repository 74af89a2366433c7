import { createHash } from 'node:crypto';
import { Duration, Names, Stack, type StackProps } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { allowedMethods, operations } from '../lib/http/operations.ts';
import { SETTINGS } from '../lib/shared/settings.ts';
import { ServiceApi } from './api.ts';
import { ServiceFunction, type ServiceFunctionProps } from './function.ts';
import type { FunctionName } from './grants.ts';
import { Monitoring } from './monitoring.ts';
import { addNotices, addOutputs } from './outputs.ts';
import { IngestQueues, MergeQueue } from './queues.ts';
import { Relay } from './relay.ts';
import { readDeploymentSettings } from './stack-settings.ts';
import { addBackups, createServiceTable } from './table.ts';

/** API Gateway waits at most this long for an answer. */
const ANSWER_TIMEOUT = Duration.seconds(29);
/** The authorizer itself stops waiting after 0.9 s (`authorizerMs`); this time-out ends one that hangs. */
const AUTHORIZER_TIMEOUT = Duration.seconds(2);
/** Moving the alerts of the largest merge takes seconds, or longer if the table is slow. */
const FINISH_TIMEOUT = Duration.minutes(5);

/** The whole service. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    const settings = readDeploymentSettings(this.node);
    addNotices(this, settings);
    const table = createServiceTable(this, settings);
    if (settings.backupVaultArn !== undefined) addBackups(this, table, settings.backupVaultArn);
    // The value of the gateway key (see api.ts) that callers without a key of their own share. It is not secret: it only selects a
    // throttle. API Gateway requires 20 to 128 letters and digits, and a value that is unique in the region.
    const sharedGatewayKey = createHash('sha256')
      .update(`shared ${Names.uniqueId(this)}`)
      .digest('hex');

    const environment = Object.fromEntries(
      Object.entries(SETTINGS).map(([name, { env }]) => [env, String(settings[name as keyof typeof SETTINGS])]),
    );
    const functions = {} as Record<FunctionName, LambdaFunction>;
    const create = (name: FunctionName, options: Omit<ServiceFunctionProps, 'name' | 'settings'>) => {
      functions[name] = new ServiceFunction(this, { name, settings, ...options }).lambda;
      return functions[name];
    };
    for (const { name, summary } of operations)
      create(name, { description: summary, table, environment, timeout: ANSWER_TIMEOUT });
    create('fallback-route', {
      description: 'Answer every other path and method',
      environment: { ALLOWED_METHODS: JSON.stringify(allowedMethods()) },
      timeout: Duration.seconds(5),
    });
    create('openapi-document', {
      description: 'Serve openapi.json',
      timeout: Duration.seconds(5),
    });
    create('usage-key-authorizer', {
      description: 'Authorizer: choose the gateway key that throttles a call',
      table,
      environment: { ...environment, SHARED_GATEWAY_KEY: sharedGatewayKey },
      timeout: AUTHORIZER_TIMEOUT,
    });
    const finishMerges = create('finish-merges', {
      description: 'Finish large merges that their calls left pending',
      table,
      environment,
      timeout: FINISH_TIMEOUT,
    });
    const mergeQueue = new MergeQueue(this, 'Merges', {
      finishMerges,
      timeout: FINISH_TIMEOUT,
      maxConcurrency: settings.mergeConcurrency,
    });
    const relay = new Relay(this, 'Relay', {
      table,
      mergeQueue: mergeQueue.queue,
      create: ({ environment: relayEnvironment, timeout }) =>
        create('relay', {
          description: 'Send large merges to their queue, and events to the bus',
          table,
          environment: { ...environment, ...relayEnvironment },
          timeout,
        }),
    });
    const ingestQueues = new IngestQueues(this, 'Feed', {
      create: ({ environment: ingestEnvironment, timeout }) =>
        create('ingest-records', {
          description: 'Write the records that are sent to the feed',
          table,
          environment: { ...environment, ...ingestEnvironment },
          timeout,
        }),
      enabled: !settings.writesFrozen,
      maxConcurrency: settings.feedConcurrency,
    });
    const { api, url, accessLog, accountPlan } = new ServiceApi(this, 'Service', {
      settings,
      functions,
      sharedGatewayKey,
    });
    const { dashboard } = new Monitoring(this, 'Watch', {
      api,
      accessLog,
      table,
      functions,
      mergeQueue,
      settings,
      ingestQueues,
      relay,
    });
    addOutputs(this, {
      url,
      table,
      accountPlan,
      mergeQueue,
      ingestQueues,
      relay,
      dashboard,
      functions,
      accessLog,
    });
  }
}
