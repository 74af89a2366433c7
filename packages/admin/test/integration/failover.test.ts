/** A region fails while changes of it are under way: the failover to a standby, what arrives late, and the way back. */
import { randomUUID } from 'node:crypto';
import { text as textOf } from 'node:stream/consumers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Endpoint } from '../../../../lib/aws/endpoint.ts';
import { appKeyIdOf, createAppKeys } from '../../../../lib/http/app-keys.ts';
import { type Key, keys } from '../../../../lib/table/keys.ts';
import { getRow } from '../../../../lib/table/read.ts';
import { mergesOf } from '../../../../test/integration/merge-alerts/merging.ts';
import { SEED, seededRandom } from '../../../../test/support/chance.ts';
import { textOf as documentOf } from '../../../../test/support/documents.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { relayed } from '../../../../test/support/events.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { serve } from '../../../../test/support/serve.ts';
import { everythingIn, put, remove, stored, testDeps } from '../../../../test/support/service.ts';
import { showAgain } from '../../ingest/clear-refused.ts';
import { streamRecord } from '../../relay/stream-record.ts';
import { timeText } from '../../text/printable.ts';
import { isGatewayAllowed, startAsOperator } from '../support/as-operator.ts';
import { enterFakeAws, type FakeStack } from '../support/aws.ts';
import { clientOf, serveFeed } from '../support/feed-queues.ts';
import { createReplica, createReplication, type Replica, streamOfReplica } from '../support/replicas.ts';
import { type AdminOptions, runCommand } from '../support/run-admin.ts';
import { steady, stepsOf, walk } from '../support/walk.ts';

const first: FakeStack & { parameters: object } = { parameters: { Standby: 'false' } };
const second: FakeStack & { parameters: object } = { parameters: { Standby: 'true' } };
const aws = await enterFakeAws({ IncidentMonitoringRum: first, IncidentMonitoringRumStandby: second });
// DynamoDB Local itself keeps the tables of regions apart.
vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', new Endpoint(dynamodbEndpoint()).url);
vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB_STREAMS', new Endpoint(dynamodbEndpoint()).url);

const inFirst = (args: string, options?: AdminOptions) =>
  runCommand([...args.split(' '), '--stack', 'IncidentMonitoringRum', '--region', 'eu-west-1', '--yes'], options);
const inSecond = (args: string, options?: AdminOptions) =>
  runCommand(
    [...args.split(' '), '--stack', 'IncidentMonitoringRumStandby', '--region', 'eu-central-1', '--yes'],
    options,
  );
const FAILOVER = 'failover --from eu-west-1 --from-stack IncidentMonitoringRum';

/** Two regions, with changes in the first of which a part has arrived in the second: a small and a large merge, a suspension, a deletion. */
async function newWorld(part: number) {
  const name = `test-${randomUUID()}`;
  const west = await createReplica(name, 'eu-west-1');
  const central = await createReplica(name, 'eu-central-1');
  const { readStreams, replicate } = createReplication([west, central], seededRandom(SEED + part));
  const outputsOf = async (RegionDigit: string) => ({
    ...{ TableName: name, AccountPlanId: 'plan', RegionDigit },
    ...(await serveFeed()),
  });
  const [outputs, ofSecond] = [await outputsOf('1'), await outputsOf('2')];
  Object.assign(first, { outputs, parameters: { Standby: 'false' }, status: undefined });
  Object.assign(second, { outputs: ofSecond, parameters: { Standby: 'true' } });

  const tenant = await newAccount(west.table);
  const { account } = tenant;
  const incidents = [await tenant.incident({ title: 'one' }), await tenant.incident({ title: 'two' })];
  const [one = '', two = ''] = incidents;
  const alerts = await tenant.alerts(6, one);
  const merges = mergesOf(west.table, tenant, incidents, { regionDigit: 1 });
  expect((await inFirst('account create 77 --name Suspended')).exitCode).toBe(0);
  const key = (await inFirst('app-key issue --account 77')).out.trim();
  expect(key).not.toBe('');
  await merges.merge({ alert_ids: alerts.slice(0, 2), incident_id: two });
  await replicate();
  expect(await everythingIn(central.table)).toBe(await everythingIn(west.table));

  // Its clock is ahead.
  const now = () => Date.now() + 4 * 60_000;
  const body = { alert_ids: alerts.slice(1), incident_id: two, title: 'three' };
  await merges.merge(body, { requestId: 'large-one', now });
  await merges.merge({ alert_ids: alerts.slice(0, 2), incident_id: one }, { requestId: 'small-one', now });
  await inFirst('account suspend 77');
  await put(west.table, keys.workItem(account, 'w'), { work_item_id: 'w', version: 2, deleted_at_ms: Date.now() });
  await replicate(part);
  /** Merges in the second region. */
  const again = mergesOf(central.table, tenant, incidents, { regionDigit: 2 });
  return {
    ...{ west, central, outputs, ofSecond, readStreams, replicate, account, incidents, alerts, merges, again },
    appKey: key,
  };
}

const check = async () => JSON.parse((await inSecond('check --json')).out);
const letIn = ({ table }: Replica, appKey: string) => createAppKeys(testDeps(table)).find(appKey);

it(`a region is lost when a third of its last changes has arrived, and comes back (SEED=${SEED})`, async () => {
  const world = await newWorld(0.3);
  const { west, central, outputs, readStreams, replicate, account, merges, again, appKey } = world;
  expect(await inSecond(FAILOVER)).toMatchObject({
    exitCode: 1,
    err: expect.stringContaining(
      'AWS_REGION=eu-west-1 npx cdk deploy -c stackName=IncidentMonitoringRum --parameters Standby=true',
    ),
  });
  // Not fenced before its deployment has ended, and its functions say so.
  const whyNot = async () => /^eu-west-1 .*?(?=\. )/m.exec((await inSecond(FAILOVER)).err)?.[0];
  first.parameters.Standby = 'true';
  first.status = 'UPDATE_IN_PROGRESS';
  expect(await whyNot()).toBe('eu-west-1 is not fenced yet: the deployment of its stack has not ended');
  first.status = 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS';
  const Url = await serve((_request, response) => void response.end('{"data":{"standby":false}}'));
  first.outputs = { ...outputs, Url };
  expect(await whyNot()).toBe(`eu-west-1 still writes: ${Url} answers so`);
  first.outputs = outputs;
  const unarrived = await inSecond(FAILOVER);
  expect(unarrived).toMatchObject({
    exitCode: 1,
    err: expect.stringMatching(/Not arrived from eu-west-1: \d changes?\./),
  });
  const arrived = (await again.entries()).map(({ entry }) => entry.request_id);
  for (const { entry } of await merges.entries())
    expect(unarrived.out.includes(`request_id ${entry.request_id}`)).toBe(!arrived.includes(entry.request_id));

  delete first.outputs;
  const silent = await inSecond(FAILOVER);
  expect(silent).toMatchObject({
    exitCode: 1,
    err: expect.stringMatching(/^eu-west-1 does not answer: .*Until it is fenced, it may go on writing: /m),
  });
  const before = await everythingIn(central.table);
  const rehearsal = await inSecond(`${FAILOVER} --dry-run`);
  expect(rehearsal).toMatchObject({ exitCode: 0, err: expect.stringContaining('Reading them took') });
  expect(rehearsal.out).toMatch(/The latest merge or command that has arrived: 20\d\d-/);
  expect(await everythingIn(central.table)).toBe(before);

  // The operator stops it before its last step, and runs it again.
  const stop = new AbortController();
  const onErr = (text: string) => text.includes('Step: accounts and keys') && stop.abort();
  expect(await inSecond(`${FAILOVER} --accept-loss`, { signal: stop.signal, onErr })).toMatchObject({ exitCode: 130 });
  const ready = await inSecond(`${FAILOVER} --accept-loss`);
  expect(ready).toMatchObject({
    exitCode: 0,
    out: expect.stringContaining('stackName=IncidentMonitoringRumStandby --parameters Standby=false'),
  });
  expect((await inSecond('account unsuspend 77')).err).toContain('This stack is a standby');
  expect(await inSecond('gateway-keys create')).toMatchObject({ exitCode: 0 });
  second.parameters.Standby = 'false';
  expect(await check()).toEqual([]);

  // The failed region comes back with what it had not sent.
  await readStreams();
  await replicate();
  first.outputs = outputs;
  const late = await inSecond(FAILOVER);
  expect(late).toMatchObject({ exitCode: 0, out: expect.stringContaining('The failover is complete.') });
  expect(await check()).toEqual([]);
  expect(await letIn(central, appKey)).toBeUndefined();
  const audit = JSON.parse((await inSecond('audit --account 77 --json')).out) as { command: string; target: string }[];
  expect(new Set(audit.flatMap(({ command, target }) => (command === 'failover' ? [target] : [])))).toEqual(
    new Set(['accounts and keys', 'merges', 'gateway keys']),
  );

  // Each region's relay makes of a change the same event, by its id.
  const events = await Promise.all([eventsOf(west, account), eventsOf(central, account)]);
  const [ofWest = [], ofCentral = []] = events.map((all) => all.map(({ detail }) => detail.id));
  expect(ofCentral.filter((id) => ofWest.includes(id)).length).toBeGreaterThan(2);
  const changes = Map.groupBy(events.flat(), ({ type, detail }) =>
    [type, detail.incident_id, detail.sequence, detail.work_item_id].join(' '),
  );
  for (const [change, told] of changes)
    expect([change, new Set(told.map(({ detail }) => detail.id)).size]).toEqual([change, 1]);
});

it('both regions write: no two merges have one sequence, and the failover names those that share alerts', async () => {
  const { outputs, replicate, readStreams, account, incidents, alerts, merges, again } = await newWorld(0);
  const [one = '', two = ''] = incidents;
  delete first.outputs;
  await inSecond(`${FAILOVER} --accept-loss`);
  second.parameters.Standby = 'false';
  await readStreams();
  // The clocks of both show the same time, after all earlier merges.
  const now = () => Date.now() - (Date.now() % 3_600_000) + 7_200_000;
  const [shared = '', other = ''] = alerts.slice(4);
  await again.merge({ alert_ids: [shared], incident_id: two }, { now });
  await merges.merge({ alert_ids: [other], incident_id: one }, { now });
  await merges.merge({ alert_ids: [shared], incident_id: one }, { now });
  await readStreams();
  await replicate();
  const entries = await again.entries();
  const sequences = entries.map(({ entry }) => entry.sequence);
  expect(new Set(sequences).size).toBe(sequences.length);
  expect(sequences.map((sequence) => sequence % 10).slice(1)).toEqual([1, 1, 1, 2, 1]);

  // It returns without having been fenced.
  first.outputs = outputs;
  expect((await inSecond(FAILOVER)).err).toMatch(/^eu-west-1 still writes\./m);
  first.parameters.Standby = 'true';
  const { exitCode, out } = await inSecond(FAILOVER);
  const before = entries.find(({ entry }) => entry.request_id === 'large-one')?.entry.sequence;
  expect(exitCode).toBe(0);
  expect(out).toContain(
    `Merged in two regions: account ${account}, entry ${sequences.at(-2)} of incident ${two}: region 1 moved alert ${shared} by entry ${before} of incident ${two}, and region 2 did not know`,
  );
  expect(await check()).toEqual([]);
});

it('a failover lists what has not arrived, each kind of change, and refuses what is no other region', async () => {
  const { west, central, merges, account, outputs } = await newWorld(0);
  first.parameters.Standby = 'true';
  const { out } = await inSecond(FAILOVER);
  for (const { entry } of await merges.entries())
    if (entry.request_id.endsWith('-one'))
      expect(out).toMatch(`account ${account}, merge ${entry.incident_id}, ${timeText(entry.at_ms)}, by `);
  const hash = [...((await getRow(west.table, keys.account(77)))?.app_keys ?? [])].join();
  for (const change of ['account suspended', `app key ${appKeyIdOf(hash)}`, 'command account suspend'])
    expect(out).toContain(`Not arrived: account 77, ${change}`);
  expect(out).toContain(`Not arrived: account ${account}, deletion w, `);
  // Erased in the first region: its mark is a later state of the account.
  const { pk, sk, ...row } = (await stored(west.table, keys.account(77))) as Key & { revision: number };
  await put(west.table, { pk, sk }, { ...row, revision: row.revision + 1, erased_at_ms: Date.now() });
  await remove(west.table, keys.listedAccount(77));
  expect((await inSecond(FAILOVER)).out).toContain('Not arrived: account 77, account erased');
  const reported = JSON.parse((await inSecond(`${FAILOVER} --dry-run --json`)).out);
  expect(reported.missing.map(({ kind }: { kind: string }) => kind).sort()).toEqual([
    'account',
    'app key',
    'command',
    'deletion',
    'merge',
    'merge',
  ]);

  // Only a part of a merge has arrived, without its entry.
  const { entry } = (await merges.entries()).at(-1) ?? expect.unreachable('there is none');
  await put(central.table, keys.logPointer(account, entry.sequence), { incident_id: entry.incident_id });
  const lost = `Lost: account ${account}, the merge or undo ${entry.sequence}, of about `;
  expect((await inSecond(`${FAILOVER} --accept-loss`)).out).toContain(lost);

  const here = await inSecond('failover --from eu-central-1');
  expect(here).toMatchObject({ exitCode: 2, err: expect.stringContaining('must be the other region') });
  const none = await inSecond('failover --from eu_1 --accept-loss');
  expect(none).toMatchObject({ exitCode: 2, err: expect.stringContaining('--from must be a region') });
  first.outputs = { ...outputs, RegionDigit: '2' };
  const digits = 'Give the stacks in eu-central-1 and eu-west-1 different values of the setting regionDigit';
  expect(await inSecond(FAILOVER)).toMatchObject({ exitCode: 1, err: expect.stringContaining(digits) });
  first.outputs = { ...outputs, TableName: 'Another' };
  expect(await inSecond(FAILOVER)).toMatchObject({ exitCode: 2, err: expect.stringContaining('not replicas of one') });
});

it(`the steps of docs/failover.md lead there, and back without a loss (SEED=${SEED})`, async () => {
  const { west, central, replicate, appKey, outputs, ofSecond } = await newWorld(0.6);
  const waiting = ['{"kind":"host"}', '{"at_ms":5}\n{"a":"1\\n"}\nnonsense', '{\n"kind": "host"}', '[1]\n\n{}'];
  for (const MessageBody of waiting)
    await clientOf(outputs.FeedUrl).sendMessage({ QueueUrl: outputs.FeedUrl, MessageBody, MessageGroupId: '77' });
  const deploy = await serve(async (request, response) => {
    const [region = '', standby = ''] = (await textOf(request)).split(' ');
    (region === 'eu-west-1' ? first : second).parameters.Standby = standby;
    response.end();
  });
  const steps = stepsOf(documentOf('docs/failover.md'));
  // With the rights of OperatorPolicyArn, and no others, in a region whose plan has no keys yet.
  aws.resetGateway();
  aws.gateway.isAllowed = isGatewayAllowed;
  const asOperator = await startAsOperator(dynamodbEndpoint());
  onTestFinished(asOperator.close);
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', new Endpoint(asOperator.endpoint).url);
  const { printed, exitCode } = await walk(steps, {
    adapt: (script) =>
      `curl_deploy() { command curl -sS ${deploy} --data "$AWS_REGION $1"; }\n${script}`
        .replace('admin -- "$@"', 'admin -- "$@" --yes')
        .replaceAll(
          /^(AWS_REGION=\S+ )?npx cdk deploy .*Standby=(\w+)$/gm,
          (_all, region = '', standby) => `${region}curl_deploy ${standby}`,
        ),
    env: {},
  });
  expect(exitCode).toBe(0);
  /** Without what the page leaves out, and the counts, which vary. */
  const comparable = (text: string) =>
    steady(text)
      .replace(/ …$/gm, '')
      .replace(/^(This writes to|Not arrived:) .*\n/gm, '')
      .replace(/\d+ (change|finding)s?|took \d+ s/g, '<count> $1');
  for (const [index, { output }] of steps.entries())
    expect(comparable(printed[index] ?? '')).toContain(comparable(output));
  // Nothing that waited in the fenced region is lost or dated anew.
  expect(printed[2]).toContain(`${waiting.length} messages moved.`);
  const { Messages = [] } = await clientOf(ofSecond.FeedUrl).receiveMessage({
    QueueUrl: ofSecond.FeedUrl,
    MaxNumberOfMessages: 10,
    VisibilityTimeout: 1,
    MessageSystemAttributeNames: ['MessageGroupId'],
  });
  expect(Messages.map(({ Body = '' }) => Body.replaceAll(/"at_ms":1\d{12}/g, '"at_ms":SENT')).sort()).toEqual(
    [
      '{"at_ms":SENT,"kind":"host"}',
      '{"at_ms":5}\n{"at_ms":SENT,"a":"1\\n"}\nnonsense',
      '{"at_ms":SENT,\n"kind": "host"}',
      '[1]\n\n{}',
    ].sort(),
  );
  expect(new Set(Messages.map(({ Attributes }) => Attributes?.MessageGroupId))).toEqual(new Set(['77']));
  const commands = JSON.parse((await inSecond('audit --account 77 --json')).out) as { command: string }[];
  expect(commands.map(({ command }) => command)).toContain('feed move');
  const { gateway_key } = await stored(central.table, keys.account(77));
  expect(aws.gateway.keys.map(({ value }) => value)).toContain(gateway_key);
  expect(printed.join()).not.toContain('Gateway keys are left out');
  expect(printed[4]).toMatch(/The failover is complete\.\s*$/);

  // The way back.
  second.parameters.Standby = 'true';
  const FAILBACK = 'failover --from eu-central-1 --from-stack IncidentMonitoringRumStandby';
  const waits = 'Messages in the feed of eu-central-1: 4. Move them by `feed move`';
  await replicate();
  expect((await inFirst(FAILBACK)).err).toContain(waits);
  const { FeedUrl } = ofSecond;
  const read = { QueueUrl: FeedUrl, MaxNumberOfMessages: 1, VisibilityTimeout: 600, WaitTimeSeconds: 2 };
  const inFlight = (await clientOf(FeedUrl).receiveMessage(read)).Messages ?? [];
  const MOVE = FAILBACK.replace('failover', 'feed move');
  const err = expect.stringContaining('3 messages moved. In flight there: 1. Run this again');
  expect(await inFirst(MOVE)).toMatchObject({ exitCode: 1, err });
  for (const { ReceiptHandle } of inFlight) await showAgain(clientOf(FeedUrl), FeedUrl, [ReceiptHandle]);
  expect(await inFirst(MOVE)).toMatchObject({ exitCode: 0, out: expect.stringContaining('1 message moved.') });
  for (const standby of ['true', 'false']) {
    first.parameters.Standby = standby;
    const { exitCode, out } = await inFirst(FAILBACK);
    expect([exitCode, out]).toEqual([0, expect.stringMatching(standby === 'true' ? 'is ready' : 'is complete')]);
    expect(out).not.toMatch(/lost|not arrived/i);
  }
  await replicate();
  expect(await everythingIn(central.table)).toBe(await everythingIn(west.table));
  for (const region of [west, central]) expect(await letIn(region, appKey)).toBeUndefined();
  expect(await check()).toEqual([]);
});

/** The events that relay would publish of an account's changes in a region. */
async function eventsOf(replica: Replica, account: number) {
  const prefix = `ACCOUNT#${account}#`;
  const records = (await streamOfReplica(replica)).map(streamRecord);
  return (
    await relayed(
      replica.table,
      records.filter(({ dynamodb }) => dynamodb?.Keys?.pk?.S?.startsWith(prefix)),
    )
  ).events;
}
