import { hash } from 'node:crypto';
import { Duration, Names, RemovalPolicy, Stack, type StackProps, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { allowedMethods, type ListedOperation, operations } from '../lib/operations/index.ts';
import { ServiceApi } from './api.ts';
import { createFunctions } from './function.ts';
import { addKeptSettings } from './kept-settings.ts';
import { Monitoring } from './monitoring.ts';
import { createOperatorPolicy } from './operator-policy.ts';
import { addNotices, addOutputs } from './outputs.ts';
import { IngestQueues, MergeQueue } from './queues.ts';
import { Relay } from './relay.ts';
import { readDeploymentSettings } from './stack-settings.ts';
import { addBackups, createServiceTable } from './table.ts';

/** API Gateway waits at most this long for an answer. */
const ANSWER_TIMEOUT = Duration.seconds(29);
/** The authorizer itself stops waiting after 0.9 s (`authorizerMs`); this time-out ends one that hangs. */
const AUTHORIZER_TIMEOUT = Duration.seconds(2);
/** Routes that read nothing. */
const OTHER_TIMEOUT = Duration.seconds(5);

export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    const settings = readDeploymentSettings(this.node.getAllContext());
    this.terminationProtection = !settings.ephemeral;
    for (const [name, value] of Object.entries(settings.tags ?? {})) Tags.of(this).add(name, value);
    addNotices(this, settings);
    addKeptSettings(this, settings);
    const table = createServiceTable(this, settings);
    const backups =
      settings.backupVaultArn === undefined ? undefined : addBackups(this, table, settings.backupVaultArn);
    // The value of the gateway key (see api.ts) that callers without a key of their own share. It is not secret: it only selects a
    // throttle. API Gateway requires 20 to 128 letters and digits, and a value that is unique in the region.
    const sharedGatewayKey = hash('sha256', `shared ${Names.uniqueId(this)}`);

    const { functions, create } = createFunctions(this, table, settings);
    for (const { name, summary } of operations) create(name, summary, ANSWER_TIMEOUT);
    create('fallback-route', 'Answer GET / and every other path and method', OTHER_TIMEOUT, {
      STANDBY: String(settings.standby),
      ALLOWED_METHODS: JSON.stringify(allowedMethods()),
    });
    create('openapi-document', 'Serve openapi.json', OTHER_TIMEOUT);
    create('usage-key-authorizer', 'Authorizer: choose the gateway key that throttles a call', AUTHORIZER_TIMEOUT, {
      SHARED_GATEWAY_KEY: sharedGatewayKey,
    });
    const mergeQueue = new MergeQueue(this, 'Merges', { create, settings });
    const relay = new Relay(this, 'Relay', { create, settings, table, mergeQueue: mergeQueue.queue });
    const ingestQueues = new IngestQueues(this, 'Feed', { create, settings });
    for (const { name, sendsTo = [] } of operations as readonly ListedOperation[])
      for (const queue of sendsTo) ingestQueues.letSend(functions[name], queue);
    const service = new ServiceApi(this, 'Service', { settings, functions, sharedGatewayKey });
    const operatorPolicy = createOperatorPolicy(this, {
      table,
      sources: [mergeQueue.queue, ingestQueues.queue, relay.eventsQueue],
      deadLetters: [mergeQueue.deadLetters, ingestQueues.refused, relay.deadLetters],
      feed: ingestQueues.queue,
      accountPlanId: service.accountPlan.usagePlanId,
    });
    // Others attach these policies, and an attached policy cannot be deleted: a destroy would fail.
    if (!settings.ephemeral)
      for (const policy of [operatorPolicy, ingestQueues.writersPolicy])
        policy.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    const parts = { settings, service, table, functions, mergeQueue, ingestQueues, relay };
    const watch = settings.ephemeral ? undefined : new Monitoring(this, 'Watch', { ...parts, backups });
    addOutputs(this, { ...parts, operatorPolicy, dashboard: watch?.dashboard });
  }
}
