import { createHash } from 'node:crypto';
import { CfnOutput, Duration, Names, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { allowedMethods, type ListedOperation, type OperationName, operations } from '../lib/http/operations.ts';
import { SETTINGS } from '../lib/shared/settings.ts';
import { ServiceApi } from './api.ts';
import { constructIdOf } from './construct-ids.ts';
import { ServiceFunction, type ServiceFunctionProps } from './function.ts';
import type { FunctionName } from './grants.ts';
import { MergeQueue } from './merge-queue.ts';
import { Monitoring } from './monitoring.ts';
import { Relay } from './relay.ts';
import { CanaryRollout } from './rollout.ts';
import { readDeploymentSettings } from './stack-settings.ts';
import { createServiceTable } from './table.ts';

/** API Gateway waits 29 s for an answer: a function that runs longer answers nobody. */
const ANSWER_TIMEOUT = Duration.seconds(29);
/** The authorizer fails by itself within a second; this ends one that does not. */
const AUTHORIZER_TIMEOUT = Duration.seconds(2);
/** The moves of the largest body take some seconds; on a slow table they take longer. */
const FINISH_TIMEOUT = Duration.minutes(5);

/** The whole service. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    const settings = readDeploymentSettings(this.node);
    const table = createServiceTable(this, settings.adoptTable);
    // No secret: it only says which throttle a stranger's calls count against. API Gateway wants 20 to 128 letters and digits.
    const sharedGatewayKey = createHash('sha256')
      .update(`shared ${Names.uniqueId(this)}`)
      .digest('hex');

    const environment = Object.fromEntries(
      Object.entries(SETTINGS).map(([name, { env }]) => [env, String(settings[name as keyof typeof SETTINGS])]),
    );
    const { logRetentionDays: logRetention } = settings;
    const create = (name: FunctionName, options: Omit<ServiceFunctionProps, 'name' | 'logRetention'>) =>
      new ServiceFunction(this, constructIdOf(name), { name, logRetention, ...options }).lambda;
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
    const mergeQueue = new MergeQueue(this, 'Merges', { finishMerges, timeout: FINISH_TIMEOUT });
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

    const rollout = settings.rollout === 'canary' ? new CanaryRollout(this, 'Rollout') : undefined;
    const { api, url, accessLog, accountPlan } = new ServiceApi(this, 'Service', {
      settings,
      operationFunctions: perOperation(({ name }) => {
        const fn = operationFunctions[name];
        return rollout?.add(name, fn) ?? fn;
      }),
      fallbackRoute,
      openApiDocument,
      usageKeyAuthorizer,
      sharedGatewayKey,
    });
    // Its logical ids begin with its first name: an alarm whose id changes is replaced.
    new Monitoring(this, 'Watch', {
      api,
      accessLog,
      table,
      functions: { ...operationFunctions, 'usage-key-authorizer': usageKeyAuthorizer },
      mergeQueue,
      relay,
      alarmEmail: settings.alarmEmail,
    });
    new CfnOutput(this, 'Url', { value: url, description: 'Base address of the API' });
    new CfnOutput(this, 'TableName', { value: table.tableName });
    new CfnOutput(this, 'AccountPlanId', {
      value: accountPlan.usagePlanId,
      description: "Usage plan for accounts' gateway keys",
    });
    new CfnOutput(this, 'DeadLettersUrl', {
      value: mergeQueue.deadLetters.queueUrl,
      description: 'Queue of merges that could not be finished',
    });
    new CfnOutput(this, 'EventBusName', { value: relay.bus.eventBusName, description: 'Event bus: docs/events.md' });
    new CfnOutput(this, 'MergeQueueUrl', { value: mergeQueue.queue.queueUrl });
    new CfnOutput(this, 'RelayDeadLettersUrl', {
      value: relay.deadLetters.queueUrl,
      description: 'Queue of changes that could not be relayed',
    });
  }
}

const perOperation = <Value>(make: (operation: ListedOperation) => Value) =>
  Object.fromEntries(operations.map((operation) => [operation.name, make(operation)])) as Record<OperationName, Value>;
