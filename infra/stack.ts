import { createHash } from 'node:crypto';
import { CfnOutput, Duration, Names, Stack, type StackProps } from 'aws-cdk-lib';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { allowedMethods, type ListedOperation, type OperationName, operations } from '../lib/http/operations.ts';
import { SETTINGS } from '../lib/shared/settings.ts';
import { ServiceApi } from './api.ts';
import { Backups } from './backups.ts';
import { reservedExecutions } from './concurrency.ts';
import { constructIdOf } from './construct-ids.ts';
import { Feed } from './feed.ts';
import { ServiceFunction, type ServiceFunctionProps } from './function.ts';
import type { FunctionName } from './grants.ts';
import { MergeQueue } from './merge-queue.ts';
import { Monitoring } from './monitoring.ts';
import { addNotices } from './notices.ts';
import { addOutputs } from './outputs.ts';
import { Relay } from './relay.ts';
import { CanaryRollout } from './rollout.ts';
import { SmokeCall } from './smoke-call.ts';
import { readDeploymentSettings } from './stack-settings.ts';
import { createServiceTable } from './table.ts';

/** As long as API Gateway waits for an answer. */
const ANSWER_TIMEOUT = Duration.seconds(29);
/** The authorizer fails by itself within a second; this ends one that does not. */
const AUTHORIZER_TIMEOUT = Duration.seconds(2);
/** The moves of the largest merge take some seconds; on a slow table they take longer. */
const FINISH_TIMEOUT = Duration.minutes(5);
/** A batch is written within seconds; on a throttled table it takes longer. */
const INGEST_TIMEOUT = Duration.minutes(1);

/** The whole service. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    const settings = readDeploymentSettings(this.node);
    addNotices(this, settings);
    const table = createServiceTable(this, settings);
    const { backupVaultArn: copyTo } = settings;
    if (copyTo !== undefined) new Backups(this, 'Backups', { table, copyTo });
    // Not secret: callers without a valid app key share this API key of API Gateway, and the throttle of its usage plan. It must have 20 to
    // 128 letters and digits.
    const sharedGatewayKey = createHash('sha256')
      .update(`shared ${Names.uniqueId(this)}`)
      .digest('hex');

    const environment = Object.fromEntries(
      Object.entries(SETTINGS).map(([name, { env }]) => [env, String(settings[name as keyof typeof SETTINGS])]),
    );
    const { logRetentionDays: logRetention } = settings;
    const logs: Record<string, ILogGroup> = {};
    const create = (name: FunctionName, options: Omit<ServiceFunctionProps, 'name' | 'logRetention'>) => {
      const { lambda } = new ServiceFunction(this, constructIdOf(name), {
        name,
        logRetention,
        reservedConcurrentExecutions: reservedExecutions(name, settings.reservedConcurrency),
        ...options,
      });
      logs[name] = lambda.logGroup;
      return lambda;
    };
    const operationFunctions = perOperation(({ name, summary }) =>
      create(name, { description: summary, table, environment, timeout: ANSWER_TIMEOUT }),
    );
    const fallbackRoute = create('fallback-route', {
      description: 'Answer every other path and method',
      environment: { ALLOWED_METHODS: JSON.stringify(allowedMethods()) },
      timeout: Duration.seconds(5),
    });
    const openApiDocument = create('openapi-document', {
      description: 'Serve openapi.json',
      timeout: Duration.seconds(5),
    });
    const usageKeyAuthorizer = create('usage-key-authorizer', {
      description: 'Authorizer: assign calls to usage-plan keys',
      table,
      environment: { ...environment, SHARED_GATEWAY_KEY: sharedGatewayKey },
      timeout: AUTHORIZER_TIMEOUT,
    });
    const finishMerges = create('finish-merges', {
      description: 'Finish merges that their calls left pending',
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
      create: ({ environment: own, timeout }) =>
        create('relay', {
          description: 'Send large merges to their queue, and events to the bus',
          table,
          environment: { ...environment, ...own },
          timeout,
        }),
    });

    const feed = new Feed(this, 'Feed', INGEST_TIMEOUT);
    const ingestRecords = create('ingest-records', {
      description: 'Write the records of the feed',
      table,
      environment: { ...environment, ...feed.environment },
      timeout: INGEST_TIMEOUT,
    });
    feed.deliverTo(ingestRecords, {
      enabled: !settings.writesFrozen,
      maxConcurrency: settings.feedConcurrency,
    });
    feed.addOutputs(this);

    // `canary-forced` keeps the aliases of a canary, but moves all calls at once.
    const rollout =
      settings.rollout === 'all-at-once'
        ? undefined
        : new CanaryRollout(this, 'Rollout', { immediate: settings.rollout === 'canary-forced', logRetention });
    const { api, url, accessLog, accountPlan } = new ServiceApi(this, 'Service', {
      settings,
      operationFunctions: perOperation((operation) => {
        const fn = operationFunctions[operation.name];
        return rollout?.add(operation, fn) ?? fn;
      }),
      fallbackRoute,
      openApiDocument,
      usageKeyAuthorizer,
      sharedGatewayKey,
    });
    // The id `Watch` is that of the first release: another would replace the alarms, their topic and the dashboard.
    const monitoring = new Monitoring(this, 'Watch', {
      api,
      accessLog,
      table,
      functions: { ...operationFunctions, 'usage-key-authorizer': usageKeyAuthorizer },
      mergeQueue,
      settings,
      feed,
      relay,
    });
    if (settings.smokeKeySecret !== undefined)
      new SmokeCall(this, 'Smoke', { url, keySecret: settings.smokeKeySecret, monitoring });
    new CfnOutput(this, 'Url', { value: url, description: 'Base address of the API' });
    new CfnOutput(this, 'TableName', { value: table.tableName });
    new CfnOutput(this, 'AccountPlanId', {
      value: accountPlan.usagePlanId,
      description: "Usage plan for accounts' gateway keys",
    });
    addOutputs(this, { logs: { ...logs, access: accessLog }, dashboard: monitoring.dashboard, mergeQueue });
    new CfnOutput(this, 'EventBusName', { value: relay.bus.eventBusName, description: 'Event bus: docs/events.md' });
    new CfnOutput(this, 'RelayDeadLettersUrl', {
      value: relay.deadLetters.queueUrl,
      description: 'Queue of changes that could not be relayed',
    });
  }
}

const perOperation = <Value>(make: (operation: ListedOperation) => Value) =>
  Object.fromEntries(operations.map((operation) => [operation.name, make(operation)])) as Record<OperationName, Value>;
