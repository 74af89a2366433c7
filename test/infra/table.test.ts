/** The table, its backups, and what a destroyed stack leaves behind: docs/deploy.md. */
import { expect, it } from 'vitest';
import { synthesize } from '../../packages/local/synthesize.ts';
import { deployed, only, propertiesOf, shortId } from './stack.ts';
import { ENV, VAULT, type Variant } from './templates.ts';

it('the table is on demand, encrypted, recoverable, protected unless ephemeral, and has an index of the keys of open alerts', () => {
  const { AttributeDefinitions: _attributes, ...table } = only('DynamoDB::GlobalTable', deployed()).Properties;
  expect(table).toEqual({
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'alerts',
        KeySchema: [
          { AttributeName: 'index_partition', KeyType: 'HASH' },
          { AttributeName: 'index_place', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ],
    BillingMode: 'PAY_PER_REQUEST',
    // All tenants together can write no more.
    WriteOnDemandThroughputSettings: { MaxWriteRequestUnits: 4_000 },
    SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
    StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
    TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
    Replicas: [
      {
        ...{ Region: 'AWS::Region', DeletionProtectionEnabled: true },
        GlobalSecondaryIndexes: [{ IndexName: 'alerts' }],
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      },
    ],
  });
  const { WriteOnDemandThroughputSettings: limited } = only('DynamoDB::GlobalTable', deployed('changed')).Properties;
  expect(limited).toEqual({ MaxWriteRequestUnits: 500 });
  const { Replicas } = only('DynamoDB::GlobalTable', deployed('ephemeral')).Properties;
  expect(Replicas).toMatchObject([
    {
      DeletionProtectionEnabled: false,
      Tags: [
        { Key: 'cost', Value: '' },
        { Key: 'team', Value: 'edge' },
      ],
    },
  ]);
  expect(propertiesOf('DynamoDB::GlobalTable', deployed('adopting'))).toEqual({});
});

it('each replica is protected, recoverable and tagged as the table is, and is eventually consistent', () => {
  const { Replicas, MultiRegionConsistency } = only('DynamoDB::GlobalTable', deployed('replicated')).Properties;
  const replica = (Region: string) => ({
    ...{ Region, DeletionProtectionEnabled: true, Tags: [{ Key: 'team', Value: 'edge' }] },
    GlobalSecondaryIndexes: [{ IndexName: 'alerts' }],
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  });
  expect(Replicas).toEqual(['eu-central-1', 'us-east-1', 'eu-west-1'].map(replica));
  // Strong consistency excludes transactions. Eventual consistency is the default.
  expect(MultiRegionConsistency).toBeUndefined();
});

it.each<[what: string, replicaRegions: string, env: Partial<typeof ENV>, message: string]>([
  ["the stack's own region", 'eu-central-1,eu-west-1', ENV, 'leave out eu-west-1'],
  ['any, if synthesis does not know that', 'eu-central-1', {}, 'set region, or synthesize with credentials'],
])('a replica is refused in %s', (_what, replicaRegions, env, message) => {
  expect(() => synthesize({ replicaRegions, regionDigit: '1' }, { env })).toThrow(message);
});

const ACCESS_LOG_ROLE = ['ServiceApiAccount', 'ServiceApiCloudWatchRole'];
it.each<[variant: Variant | undefined, kept: string[]]>([
  // An attached policy would block the destroy.
  [undefined, ['FeedWriters', 'Operator', ...ACCESS_LOG_ROLE, 'Table']],
  ['changed', ['BackupsVault', 'FeedWriters', 'Operator', 'Table']],
  ['ephemeral', ACCESS_LOG_ROLE],
])(
  'a destroyed stack leaves behind its data, the role for access logs, and the policies that others attach: %s',
  (variant, kept) => {
    const found = Object.entries(deployed(variant).Resources).flatMap(
      ([id, { DeletionPolicy, UpdateReplacePolicy }]) => {
        const policies = `${DeletionPolicy ?? 'Delete'} ${UpdateReplacePolicy ?? 'Delete'}`;
        return policies === 'Delete Delete' ? [] : `${shortId(id)} ${policies}`;
      },
    );
    expect(found.map((text) => text.replace('RetainExceptOnCreate', 'Retain')).sort()).toEqual(
      kept.map((id) => `${id} Retain Retain`),
    );
  },
);

it('backups are made each day with a copy in another account, if the setting names its vault', () => {
  const changed = deployed('changed');
  expect(only('Backup::BackupPlan', changed).Properties.BackupPlan.BackupPlanRule).toEqual([
    {
      RuleName: 'daily',
      ScheduleExpression: 'cron(0 3 * * ? *)',
      TargetBackupVault: 'BackupsVault.BackupVaultName',
      Lifecycle: { DeleteAfterDays: 7 },
      CopyActions: [{ DestinationBackupVaultArn: VAULT, Lifecycle: { DeleteAfterDays: 35 } }],
    },
  ]);
  expect(only('Backup::BackupSelection', changed).Properties.BackupSelection.Resources).toEqual(['Table.Arn']);
  expect(Object.values(deployed().Resources).filter(({ Type }) => Type.startsWith('AWS::Backup'))).toEqual([]);
});

it('two stages share no name that must be unique in a region, and no gateway key', () => {
  const namesIn = (variant: Variant | undefined) =>
    Object.entries(deployed(variant).Resources).flatMap(([id, { Type, Properties = {} }]) =>
      Object.entries(Properties)
        // A stage's name is unique within its API.
        .filter(([key, value]) => /^(\w*Name|Value)$/.test(key) && typeof value === 'string' && !Type.endsWith('Stage'))
        .filter(([key]) => !/^(Metric|Policy|Attribute)\w*|^GroupName/.test(key))
        .map(([key, value]) => `${id} ${key} ${value}`),
    );
  expect(namesIn('ephemeral').filter((name) => namesIn(undefined).includes(name))).toEqual([]);
  // The API, the shared gateway key, four composite alarms, the dashboard and the bus.
  expect(namesIn(undefined)).toHaveLength(8);
});
