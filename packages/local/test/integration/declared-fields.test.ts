/** Each field that `lib/model` declares arrives wherever a record of its kind is stored, shown, exported, imported, or rewritten by a command. */
import { hash } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { keyOf } from '../../../../lib/ingest/record-rows.ts';
import { alert } from '../../../../lib/model/alert.ts';
import { AT_MS, type Field, namesOf, pick } from '../../../../lib/model/fields.ts';
import { type IngestKind, KINDS, type Kind, modelOf, type SentRecord } from '../../../../lib/model/kinds.ts';
import { objectId } from '../../../../lib/shared/json.ts';
import type { Table } from '../../../../lib/table/client.ts';
import { type KeyOf, keys, type RowKind } from '../../../../lib/table/keys.ts';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { newAppKey, newTable, stored } from '../../../../test/support/service.ts';
import { adminOf } from '../../../admin/test/support/run-admin.ts';
import { callService, serveForOperator } from '../support/start-service.ts';

const table = await newTable();
const other = await newTable();
const { url } = await serveForOperator(table);
const SOON = { timeout: 20_000, interval: 50 };
const DAY_MS = 86_400_000;

let count = 0;
/** A value that fits the schema, and that no other field has, as far as its type allows. */
function sampleOf(name: string, schema: object): unknown {
  count += 1;
  if (schema === objectId) return count.toString(16).padStart(24, 'a');
  if (schema === AT_MS) return Date.now() - DAY_MS + count * 1_000;
  const {
    enum: values,
    pattern,
    type,
    maxLength = 64,
    items,
    additionalProperties,
  } = schema as Record<string, unknown>;
  if (Array.isArray(values)) return values[0];
  if (String(pattern).includes('://')) return `https://example.com/${name}/${count}`;
  if (pattern !== undefined) return count.toString(16).padStart(64, 'b');
  if (type === 'string') return `${count}-${name}`.padEnd(32, '.').slice(0, Number(maxLength));
  if (type === 'integer') return 1_000 + count;
  if (type === 'array') return [sampleOf(name, items as object)];
  if (type === 'object') return { [name]: sampleOf(name, additionalProperties as object) };
  return true;
}

const isOfRecords = ({ by }: Field) => by === undefined || by === 'records with a key';
/** A record of a kind with each of its fields. @param without the fields that it cannot have beside the others */
function recordOf<OfKind extends Kind>(
  kind: OfKind,
  without: readonly string[],
  more: object = {},
): SentRecord<OfKind> {
  const fields = Object.entries(modelOf(kind).fields).filter(
    ([name, field]) => isOfRecords(field) && !without.includes(name),
  );
  const values = fields.map(([name, { schema }]) => [name, sampleOf(name, schema)]);
  return { kind, account_id: 0, ...Object.fromEntries(values), ...more };
}

/** The fields of a record that its row has, with the stored values. */
const storedFieldsOf = (sent: SentRecord) =>
  Object.fromEntries(
    Object.entries(modelOf(sent.kind).fields).flatMap(([name, { stored: where }]) => {
      if (where === false || where === 'key' || sent[name] === undefined) return [];
      return [[name, name === 'deleted_by' ? `record: ${sent[name]}` : sent[name]]];
    }),
  );

/** What an answer has of a record, as its kind declares. */
const answeredFieldsOf = (sent: SentRecord) =>
  Object.fromEntries(
    Object.entries(modelOf(sent.kind).fields).flatMap(([name, { answer, as = name, schema }]) => {
      const value = sent[name];
      if (!answer || value === undefined || name === 'incident_id' || name === 'ended_at_ms') return [];
      return [[as, schema === AT_MS ? Math.floor(Number(value) / 1_000) : value]];
    }),
  );

/** An account with an app key, made by an import of a line of each that has all fields. */
async function newCaller() {
  const account_id = newAccountId();
  const appKey = newAppKey();
  const permissions = ['monit', 'feed'];
  const account = recordOf('account', ['suspended'], { account_id, permissions });
  const access = recordOf('app_key', ['app_key_hash', 'last_digits', 'revoked'], {
    ...{ account_id, app_key: appKey, expires_at: Math.floor(Date.now() / 1_000) + 86_400 },
  });
  const stdin = `${JSON.stringify(account)}\n${JSON.stringify(access)}\n`;
  expect(await adminOf(table)('import - --yes', { stdin })).toMatchObject({ exitCode: 0 });
  return { account_id, appKey, account, access };
}

type Caller = Awaited<ReturnType<typeof newCaller>>;
const run = async ({ account_id }: Caller, args: string, on: Table = table) => {
  const ofAccount = / account /.test(` ${args}`) ? '' : ` --account ${account_id}`;
  const result = await adminOf(on)(`${args}${ofAccount}`);
  expect(result, args).toMatchObject({ exitCode: 0 });
  return result.out;
};
const answerOf = async ({ appKey }: Caller, path: string, body: object) => {
  const answer = await callService(url, path, appKey, body);
  expect(answer, path).toMatchObject({ status: 200 });
  return answer.body.data ?? {};
};
const rowOf = (key: KeyOf<RowKind>, on: Table = table) => stored(on, key);

const NO_KEY = keys.account(0);
/** Sends records over HTTPS, and waits until their rows are there. @returns the key of the row of each */
async function send(caller: Caller, ...records: SentRecord<IngestKind>[]) {
  const { account_id } = caller;
  await answerOf(caller, '/feed/records', { records: records.map(({ account_id: _none, ...record }) => record) });
  const ofAccount = records.map((record) => ({ ...record, account_id }));
  const rows = () => Promise.all(ofAccount.map((record) => rowOf(keyOf(record))));
  await vi.waitFor(async () => expect(await rows()).not.toContain(undefined), SOON);
  return ofAccount.map((record) => keyOf(record));
}

/** Expects the fields in an export, and all that records say in the row of another table to which that is imported. */
async function expectExported(caller: Caller, sent: SentRecord, key: KeyOf<RowKind>): Promise<void> {
  const stdin = await run(caller, 'export');
  const line = stdin.split('\n').find((text) => text.includes(`"kind":"${sent.kind}"`)) ?? '{}';
  const unsent = ['app_key', 'retired', 'incident_at_ms', 'account_id'];
  expect(Object.keys(JSON.parse(line))).toEqual(
    expect.arrayContaining(Object.keys(sent).filter((name) => !unsent.includes(name))),
  );
  expect(await adminOf(other)('import - --yes', { stdin })).toMatchObject({ exitCode: 0 });
  const { fields } = modelOf(sent.kind);
  const names = Object.keys(fields).filter((name) => fields[name]?.by !== 'service' && name !== 'suspended');
  expect(pick(await rowOf(key, other), names)).toEqual(pick(await rowOf(key), names));
}

/** Expects a value of each stored field in what a command shows. */
async function expectShown(caller: Caller, sent: SentRecord, command: string): Promise<void> {
  const shown = await run(caller, command);
  for (const [name, value] of Object.entries(storedFieldsOf(sent)))
    expect(shown, name).toContain(typeof value === 'object' ? Object.values(value as object)[0] : String(value));
}

const expectStored = async (key: KeyOf<RowKind>, sent: SentRecord) =>
  expect(await rowOf(key)).toMatchObject(storedFieldsOf(sent));

it('all kinds are tested here', () => {
  const tested = ['account', 'app_key', 'member', 'host', 'host_status', 'rum_resource', 'rum_usage', 'work_item'];
  expect(KINDS).toEqual([...tested, 'incident', 'alert']);
});

it.concurrent('account and app_key', async () => {
  const caller = await newCaller();
  const { account, access, appKey, account_id } = caller;
  const keyRow = keys.appKey(hash('sha256', appKey, 'hex'));
  for (const command of ['', 'suspend', 'unsuspend', 'grant', 'repair']) {
    if (command === 'repair') await run(caller, 'repair --write --yes');
    else if (command === 'grant') await run(caller, `account ${command} ${account_id} feed --yes`);
    else if (command !== '') await run(caller, `account ${command} ${account_id} --yes`);
    expect(await rowOf(keys.account(account_id)), command).toMatchObject(storedFieldsOf(account));
    expect(await rowOf(keyRow), command).toMatchObject(storedFieldsOf(access));
  }
  await expectExported(caller, account, keys.account(account_id));
  await expectExported(caller, access, keyRow);
});

it.concurrent('member', async () => {
  const caller = await newCaller();
  const sent = recordOf('member', []);
  const [key = NO_KEY] = await send(caller, sent);
  await expectStored(key, sent);
  await expectShown(caller, sent, `account show ${caller.account_id} --json`);
  const { items } = await answerOf(caller, '/member/list', {});
  expect(items).toMatchObject([answeredFieldsOf(sent)]);
  await expectExported(caller, sent, key);
});

it.concurrent('host and host_status', async () => {
  const caller = await newCaller();
  const host = recordOf('host', ['retired']);
  const status = recordOf('host_status', [], { host_id: host.host_id });
  const [hostKey = NO_KEY, statusKey = NO_KEY] = await send(caller, host, status);
  await run(caller, 'repair --write --yes');
  for (const [sent, key] of [
    [host, hostKey],
    [status, statusKey],
  ] as const) {
    await expectStored(key, sent);
    await expectShown(caller, sent, `show host ${host.host_id} --json`);
    await expectExported(caller, sent, key);
  }
});

it.concurrent('rum_resource and rum_usage', async () => {
  const caller = await newCaller();
  const [resource, usage] = [recordOf('rum_resource', []), recordOf('rum_usage', [])];
  const [resourceKey = NO_KEY, usageKey = NO_KEY] = await send(caller, resource, usage);
  await expectStored(resourceKey, resource);
  await expectExported(caller, resource, resourceKey);
  await expectExported(caller, usage, usageKey);
  await run(caller, 'rum restore --yes');
  const { deleted: _deleted, ...restored } = resource;
  await expectStored(resourceKey, restored);
  expect(await answerOf(caller, '/rum/resource/info', { no_cache: true })).toEqual({
    account_id: caller.account_id,
    ...answeredFieldsOf(restored),
    ...answeredFieldsOf(usage),
  });
});

it.concurrent('work_item', async () => {
  const caller = await newCaller();
  const sent = recordOf('work_item', [], { field_of_its_own: { constructor: [1, { deep: 'value' }] } });
  const [key = NO_KEY] = await send(caller, sent);
  await expectStored(key, sent);
  await expectShown(caller, sent, `show work-item ${sent.work_item_id} --json`);
  await expectExported(caller, sent, key);
  await run(caller, `work-item restore ${sent.work_item_id} --yes`);
  const { deleted_at_ms: _at, deleted_by: _by, version: _version, ...restored } = sent;
  await expectStored(key, restored);
});

it.concurrent('incident', async () => {
  const caller = await newCaller();
  const { sent, owner } = ownedIncident();
  const [key = NO_KEY] = await send(caller, sent, owner);
  await run(caller, 'repair --write --yes');
  await expectStored(key, sent);
  await expectShown(caller, sent, `show incident ${sent.incident_id} --json`);
  const { items } = await answerOf(caller, '/incident/list', {});
  expect(items).toMatchObject([{ ...answeredFieldsOf(sent), owner: { member_name: owner.name } }]);
  await expectExported(caller, sent, key);
});

/** An incident, and the member who owns it: `repair` asks for that. */
function ownedIncident(more: object = {}) {
  const sent = recordOf('incident', [], more);
  return { sent, owner: recordOf('member', [], { member_id: sent.owner_id }) };
}

const OF_KEYS = namesOf(alert.fields, { by: 'records with a key' });
it.concurrent.each([
  ['an id', OF_KEYS, {}],
  ['a key that is open', ['alert_id', 'ended_at_ms'], {}],
  ['a key that has ended', ['alert_id'], { alert_status: 'Ok' }],
])('alert with %s', async (_what, without, more) => {
  const caller = await newCaller();
  const sent = recordOf('alert', without, more);
  const [from, to] = [ownedIncident({ incident_id: sent.incident_id }), ownedIncident()];
  const [decidingKey = NO_KEY] = await send(caller, sent, from.sent, from.owner, to.sent, to.owner);
  const { alert_id } = (await rowOf(decidingKey)) as { alert_id: string };
  const key = keys.alert(caller.account_id, alert_id);
  async function expectAlert(fields: SentRecord) {
    await expectStored(key, fields);
    const { incident_id, title } = from.sent;
    const shown = { ...answeredFieldsOf(fields), incident: { incident_id, title } };
    expect(await answerOf(caller, '/alert/info', { alert_id })).toMatchObject(shown);
    expect(JSON.parse(await run(caller, `alert show ${alert_id} --json`))).toMatchObject(shown);
    await expectExported(caller, fields, key);
  }
  await expectAlert(sent);
  await answerOf(caller, '/alert/merge', { alert_ids: [alert_id], incident_id: to.sent.incident_id });
  const { history } = JSON.parse(await run(caller, `show incident ${to.sent.incident_id} --json`));
  await run(caller, `merge undo ${to.sent.incident_id} ${history[0].sequence} --yes`);
  await run(caller, 'repair --write --yes');
  await expectAlert(sent);
  if (!sent.alert_key || sent.alert_status === 'Ok') return;
  await run(caller, `alert close ${alert_id} --yes`);
  await expectAlert({ ...sent, alert_status: 'Ok' });
});
