/** Synthesizes the templates that the tests of this folder read. */
import type { TestProject } from 'vitest/node';
import { synthesize } from '../../packages/local/synthesize.ts';
import type { Template } from '../../packages/local/template.ts';

export const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:on-call';
export const VAULT = 'arn:aws:backup:eu-central-1:210987654321:backup-vault:copies';
export const OLD_TABLE = 'arn:aws:dynamodb:eu-west-1:123456789012:table/Old-Table-1';
export const OLD_STREAM = `${OLD_TABLE}/stream/2026-11-21T10:00:00.000`;
export const DOMAIN = {
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/c',
};
/** Account and region of a stack with replicas, which must be known. */
export const ENV = { account: '123456789012', region: 'eu-west-1' };
export const WEB_ACL = 'arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/a/b';

/** The context of each template, besides the one with all defaults. */
export const VARIANTS = {
  changed: {
    stageName: 'v2',
    apiGatewayAccount: 'false',
    maxBodyBytes: '2048',
    writesFrozen: 'true',
    feedItemsPer3Seconds: '5',
    feedItemsPerMinute: '6',
    endedAlertDays: '31',
    alertSilenceSeconds: '0',
    serviceMapEnabled: 'false',
    stageRate: '3000',
    logRetentionDays: '90',
    reservedConcurrency: '50',
    mergeConcurrency: '3',
    feedConcurrency: '4',
    maxWriteUnits: '500',
    feedAccounts: '111122223333,444455556666',
    pageTo: 'ops@example.com',
    ticketTo: TOPIC,
    runbookUrl: 'https://wiki.example.com/on-call',
    backupVaultArn: VAULT,
    disableExecuteApiEndpoint: 'true',
    webAclArn: WEB_ACL,
    ...DOMAIN,
  },
  adopting: { adoptTable: OLD_STREAM, pageTo: TOPIC },
  standby: { adoptTable: OLD_STREAM, standby: 'true', regionDigit: '2', pageTo: TOPIC },
  replicated: { replicaRegions: 'eu-central-1,us-east-1', regionDigit: '1', tags: 'team=edge' },
  ephemeral: { stackName: 'Preview', ephemeral: 'true', tags: 'team=edge,cost=' },
};
export type Variant = keyof typeof VARIANTS;

declare module 'vitest' {
  interface ProvidedContext {
    variants: Record<Variant, Template>;
  }
}

export default function setup({ provide }: TestProject): void {
  provide('template', synthesize());
  const variants = Object.entries(VARIANTS).map(([name, context]) => [
    name,
    synthesize(context, name === 'replicated' ? { env: ENV } : {}),
  ]);
  provide('variants', Object.fromEntries(variants));
}
