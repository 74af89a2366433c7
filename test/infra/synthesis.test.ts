/** What `cdk synth` checks, refuses and prints, and when a deployment changes the API. */
import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { expect, it, vi } from 'vitest';
import cdk from '../../cdk.json' with { type: 'json' };
import { addChecks } from '../../infra/checks.ts';
import { ServiceStack } from '../../infra/stack.ts';
import { catalog as en } from '../../lib/http/messages/en.ts';
import { synthesize } from '../../packages/local/synthesize.ts';
import { resourcesOf } from '../../packages/local/template.ts';
import released from './released.json' with { type: 'json' };
import { releasedOf } from './released.ts';
import { deployed } from './stack.ts';
import { ENV, OLD_STREAM, TOPIC, VAULT } from './templates.ts';

function stackOf(context: Record<string, string> = {}, env = {}) {
  const outdir = mkdtempSync(join(tmpdir(), 'synthesis-'));
  const app = new App({
    context: { ...cdk.context, stages: {}, 'aws:cdk:bundling-stacks': [], stackName: 'Preview', ...context },
    outdir,
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
  });
  return { app, outdir, stack: new ServiceStack(app, 'Preview', { env }) };
}

it.each([
  ['without credentials', {}],
  // As `cdk deploy` synthesizes it.
  ['with those of an account and a region', ENV],
])(
  "cdk-nag's AwsSolutions rules find nothing but the wildcard permission that this test adds to a function: %s",
  (_what, env) => {
    const { app, outdir, stack } = stackOf({ pageTo: 'ops@example.com', backupVaultArn: VAULT }, env);
    addChecks(app, stack);
    const widened = stack.node.findAll().find((construct) => construct instanceof LambdaFunction);
    widened?.addToRolePolicy(new PolicyStatement({ actions: ['dynamodb:GetItem'], resources: ['*'] }));
    expect(() => app.synth()).toThrow('validation-report.json');
    const { pluginReports } = JSON.parse(readFileSync(join(outdir, 'validation-report.json'), 'utf8')) as {
      pluginReports: { violations: { ruleName: string; violatingConstructs: { constructPath: string }[] }[] }[];
    };
    const found = pluginReports.flatMap(({ violations }) =>
      violations.flatMap(({ ruleName, violatingConstructs }) =>
        violatingConstructs.map(({ constructPath }) => `${ruleName} ${constructPath}`),
      ),
    );
    const role = widened?.node.path.replace(/Function$/, 'Role/DefaultPolicy/Resource');
    expect(found).toEqual([`AwsSolutions-IAM5[Resource::*] ${role}`]);
  },
);

it.each<[where: string, context: object, env: Record<string, string>, found: object]>([
  [
    'for the credentials',
    {},
    { CDK_DEFAULT_ACCOUNT: '123456789012', CDK_DEFAULT_REGION: 'eu-west-1' },
    { account: '123456789012', region: 'eu-west-1' },
  ],
  // As a pipeline builds a table with replicas.
  [
    'without credentials, in its region',
    { region: 'eu-west-1', replicaRegions: 'eu-central-1', regionDigit: 1 },
    {},
    { region: 'eu-west-1' },
  ],
])(
  'the CDK app names the stack as the setting says, %s, in a folder that only its owner can open',
  async (_where, context, env, found) => {
    vi.resetModules();
    vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify({ stackName: 'Staging', 'aws:cdk:bundling-stacks': [], ...context }));
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    vi.stubEnv('CDK_OUTDIR', join(mkdtempSync(join(tmpdir(), 'app-')), 'cdk.out'));
    const { app } = await import('../../infra/app.ts');
    vi.unstubAllEnvs();
    expect(app.node.tryFindChild('Staging')).toMatchObject(found);
    expect(statSync(app.outdir).mode & 0o777).toBe(0o700);
  },
);

it('a gateway response that changes is deployed, by a new deployment', () => {
  const { ServiceUnavailable } = en.codes;
  Object.assign(en.codes, { ServiceUnavailable: 'In other words.' });
  const changed = synthesize();
  Object.assign(en.codes, { ServiceUnavailable });
  expect(JSON.stringify(changed.Resources)).toContain('In other words.');
  const [ids, idsBefore] = [changed, deployed()].map((template) =>
    Object.keys(resourcesOf(template, 'AWS::ApiGateway::Deployment')),
  );
  expect(ids).not.toEqual(idsBefore);
});

it('an update of the last release changes no type, and replaces what keeps something only where CHANGELOG.md says so', () => {
  const now = releasedOf(deployed());
  const typesOf = ({ types }: typeof now) =>
    Object.entries(types).flatMap(([type, ids]) => ids.split(' ').map((id) => [id, type] as const));
  const typesNow = new Map(typesOf(now));
  expect(typesOf(released).filter(([id, type]) => (typesNow.get(id) ?? type) !== type)).toEqual([]);
  const before: Record<string, string> = released.kept;
  const replaced = Object.keys(before).filter((id) => now.kept[id] !== before[id]);
  const named = [...readFileSync('CHANGELOG.md', 'utf8').matchAll(/`(\w+[0-9A-F]{8})`/g)].map(([, id]) => id);
  expect(replaced).toEqual(named);
});

it('a table to adopt is refused if it is in another account or region, as far as synthesis knows them', () => {
  const adopt = (env: object) => () => stackOf({ adoptTable: OLD_STREAM }, env);
  for (const elsewhere of [{ region: 'eu-central-1' }, { account: '210987654321' }])
    expect(adopt({ ...ENV, ...elsewhere })).toThrow('names a table of account 123456789012 in eu-west-1');
  for (const env of [ENV, {}]) expect(adopt(env)).not.toThrow();
});

/** What synthesis prints. */
const noticesOf = (context: Record<string, string>) =>
  stackOf(context)
    .stack.node.findAll()
    .flatMap(({ node }) => node.metadata)
    .filter(({ type }) => /^aws:cdk:(info|warning|error)$/.test(type))
    .map(({ type, data }) => `${type.replace('aws:cdk:', '')}: ${data}`);

it.each<[context: Record<string, string>, ...warnings: string[]]>([
  [{}, 'warning: Alarms page nobody'],
  [{ pageTo: TOPIC }],
  [{ writesFrozen: 'true', pageTo: TOPIC }, 'warning: .* deletions and merges are refused'],
  [
    { standby: 'true', regionDigit: '2', pageTo: TOPIC },
    'warning: STANDBY: another region writes .* refuses deletions, merges and records',
  ],
  [{ ephemeral: 'true' }, 'warning: .* are deleted with this stack'],
])('synthesis prints what is reserved, and warns of likely mistakes only: %j', (context, ...warnings) => {
  const notices = ['info: .* none is reserved.* 20 large merges .* 10 batches', ...warnings];
  expect(noticesOf(context)).toEqual(notices.map((notice) => expect.stringMatching(notice)));
});

it('synthesis prints how many executions are reserved for what', () => {
  const [notice] = noticesOf({ reservedConcurrency: '100' });
  expect(notice).toMatch('100 reserved, 30 of them for the authorizer and at most 20 for merges');
});

it.each<[context: Record<string, string>, kept: Record<string, string>]>([
  [{}, { AdoptedTable: 'none', WritesFrozen: 'false', Standby: 'false', ReplicaRegions: 'none' }],
  [
    { adoptTable: OLD_STREAM, writesFrozen: 'true', standby: 'true', regionDigit: '2' },
    { AdoptedTable: OLD_STREAM, WritesFrozen: 'true', Standby: 'true' },
  ],
])('a deployment with %j requires the parameters of the one before, which CDK repeats, to be %j', (context, kept) => {
  const { Parameters, Rules } = synthesize({ ...context }) as unknown as Record<string, Record<string, object>>;
  for (const [name, value] of Object.entries(kept)) {
    // The first deployment has no parameters yet.
    expect(Parameters?.[name]).toMatchObject({ Type: 'String', Default: value });
    const AssertDescription = expect.stringContaining(`--parameters ${name}=${value}`);
    expect(Rules?.[`Keep${name}`]).toEqual({
      Assertions: [{ Assert: { 'Fn::Equals': [{ Ref: name }, value] }, AssertDescription }],
    });
  }
});

it('a stack is protected against a destroy, unless it is ephemeral', () => {
  expect(stackOf().stack.terminationProtection).toBe(true);
  expect(stackOf({ ephemeral: 'true' }).stack.terminationProtection).toBe(false);
});
