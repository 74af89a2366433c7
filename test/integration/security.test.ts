import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { keys } from '../../lib/dynamodb/keys.ts';
import type { ErrorCode } from '../../lib/http/errors.ts';
import { type OperationName, operations } from '../../lib/http/operations.ts';
import { sealCursor } from '../../lib/operations/browse-fleet/fleet-request.ts';
import { inventory } from '../support/fleet.ts';
import { newAccount, objectId } from '../support/incidents.ts';
import { RUM_RECORD } from '../support/rum.ts';
import {
  callOperation,
  type EventOptions,
  handlersOver,
  NOW,
  newTable,
  put,
  putAppKey,
  testDeps,
} from '../support/service.ts';
import { tapWire } from '../support/wire.ts';

/** In every text of the other tenant. Its ids may be known. */
const SECRET = 'belongs-to-the-other-tenant';

let clock = NOW;

async function newTenant(text: string) {
  const tenant = await newAccount(table);
  const [incident, alert] = [objectId(), objectId()];
  await put(table, keys.incident(tenant.account, incident), { incident_id: incident, title: text });
  await put(table, keys.alert(tenant.account, alert), { alert_id: alert, title: text });
  const workItem = `item of ${text.length}`;
  await put(table, keys.workItem(tenant.account, workItem), { work_item_id: workItem, version: 1, title: text });
  await put(table, keys.host(tenant.account, text), inventory());
  await put(table, keys.rumResource(tenant.account), { ...RUM_RECORD, resource_name: text });
  return { ...tenant, incident, alert, workItem, cursor: sealCursor(Buffer.from(`secret of ${tenant.account}`), text) };
}

const table = await newTable();
const own = await newTenant('own');
const other = await newTenant(SECRET);
const key = (row: object) => putAppKey(table, { account_id: own.account, ...row });
const badKeys = {
  expired: await key({ expires_at: 1 }),
  revoked: await key({ revoked_at: 1 }),
  withoutPermission: await key({ permissions: [] }),
};
const tap = tapWire(table);
const handlers = handlersOver(testDeps(table, { now: () => clock }));

/** What the cases below send to an operation, and what it answers. */
interface Route {
  /** A body that passes all checks. */
  valid: Record<string, unknown>;
  /** The code of the answer to it. */
  code: ErrorCode | 'OK';
  /** A field that takes text and one that takes an integer; empty where there is none. */
  text: string;
  integer: string;
  /** A body that names what belongs to the other tenant, and the code of its answer. */
  foreign: Record<string, unknown>;
  foreignCode: ErrorCode | 'OK';
}

const ROUTES: Readonly<Record<OperationName, Route>> = {
  'browse-fleet': {
    valid: { limit: 1 },
    code: 'OK',
    text: 'cursor',
    integer: 'limit',
    foreign: { cursor: other.cursor, account_id: other.account },
    foreignCode: 'InvalidParameter',
  },
  'get-rum-resource': {
    valid: {},
    code: 'OK',
    text: '',
    integer: '',
    foreign: { account_id: other.account },
    foreignCode: 'OK',
  },
  'delete-work-item': {
    valid: { work_item_id: 'none', version: 1 },
    code: 'ResourceNotFound',
    text: 'work_item_id',
    integer: 'version',
    foreign: { work_item_id: other.workItem, version: 1, account_id: other.account },
    foreignCode: 'ResourceNotFound',
  },
  'merge-alerts': {
    valid: { alert_ids: [own.alert], incident_id: objectId() },
    code: 'ResourceNotFound',
    text: 'comment',
    integer: 'owner_id',
    foreign: { alert_ids: [other.alert], incident_id: other.incident },
    foreignCode: 'ResourceNotFound',
  },
};

/** A case sends a call to an operation. It is undefined for an operation without the field that it needs. */
type Case = (route: Route, name: OperationName) => [options: EventOptions, code: ErrorCode | 'OK'] | undefined;

const { appKey } = own;
/** The valid body with one more member, as text. */
const withMember = (body: object, member: string) => ({
  appKey,
  rawBody: `${JSON.stringify(body).slice(0, -1)},${member}}`.replace('{,', '{'),
});
const withHeaders = ({ valid }: Route, headers: Record<string, string>) => ({ appKey, body: valid, headers });

const CASES: Readonly<Record<string, Case>> = {
  'a valid key before an unknown one': ({ valid }) => [{ appKey: [appKey, 'x'], body: valid }, 'Unauthorized'],
  'a key in headers only': ({ valid }) => {
    const headers = {
      app_key: appKey,
      'X-Api-Key': appKey,
      Authorization: `Bearer ${appKey}`,
      Cookie: `app_key=${appKey}`,
    };
    return [{ body: valid, headers }, 'Unauthorized'];
  },
  'a key in the body only': ({ valid }) => [{ body: { ...valid, app_key: appKey } }, 'Unauthorized'],
  'a key without permissions': ({ valid, code }, name) => [
    { appKey: badKeys.withoutPermission, body: valid },
    name === 'browse-fleet' ? 'AccessDenied' : code,
  ],
  "another tenant's ids": ({ foreign, foreignCode }) => [{ appKey, body: foreign }, foreignCode],
  ['__proto__']: ({ valid, code }) => [
    withMember(valid, '"__proto__":{"limit":"x","version":"x","polluted":true}'),
    code,
  ],
  'constructor.prototype': ({ valid, code }) => [
    withMember(valid, '"constructor":{"prototype":{"polluted":true}}'),
    code,
  ],
  'a JSON key twice: the last counts': ({ valid, integer }) =>
    integer === '' ? undefined : [withMember(valid, `"${integer}":"x"`), 'InvalidParameter'],
  'half a surrogate pair': ({ valid, text }) =>
    text === '' ? undefined : [withMember({ ...valid, [text]: undefined }, `"${text}":"\\ud800"`), 'InvalidParameter'],
  'a NUL': ({ valid, text, code }, name) =>
    text === ''
      ? undefined
      : [
          withMember({ ...valid, [text]: undefined }, `"${text}":"a\\u0000b"`),
          name === 'browse-fleet' ? 'InvalidParameter' : code,
        ],
  'headers that ask for another method': (route) => [
    withHeaders(route, { 'X-HTTP-Method': 'GET', 'X-Method-Override': 'PUT' }),
    route.code,
  ],
  'X-HTTP-Method-Override, which API Gateway obeys': (route) => [
    withHeaders(route, { 'X-HTTP-Method-Override': 'DELETE' }),
    'MethodNotAllowed',
  ],
  'headers that name another path or host': (route) => [
    withHeaders(route, { 'X-Original-URL': '/', 'X-Rewrite-URL': '/', 'X-Forwarded-Host': 'evil.example' }),
    route.code,
  ],
};

/** All rows but the rate counts, which a refused call may write. */
async function contents(): Promise<unknown[]> {
  const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.name, ConsistentRead: true }));
  return Items.filter(({ pk }) => !String(pk).includes('#RATE#')).sort((one, two) =>
    `${one.pk}${one.sk}`.localeCompare(`${two.pk}${two.sk}`),
  );
}

describe.each(operations)('$path', (operation) => {
  const route = ROUTES[operation.name];
  const calls = Object.entries(CASES).flatMap(([name, of]) => {
    const call = of(route, operation.name);
    return call ? [[name, ...call] as const] : [];
  });

  it.each(calls)('%s', async (_name, options, code) => {
    clock += 60_000;
    const before = await contents();
    const answer = await callOperation(handlers, operation, options);
    expect(answer.body.error?.code ?? 'OK').toBe(code);
    expect(answer.text).not.toContain(SECRET);
    expect(JSON.stringify(answer.headers)).not.toContain(SECRET);
    expect(await contents()).toEqual(before);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('does the same work for an unknown, an expired and a revoked key', async () => {
    const work = async (appKey: string) => {
      clock += 60_000;
      const before = tap.attempts.length;
      const { text } = await callOperation(handlers, operation, { appKey, body: route.valid });
      const calls = tap.attempts.slice(before).map(({ command, body }) => `${command} ${body.length}`);
      return { calls, length: text.length };
    };
    const unknown = await work('y'.repeat(43));
    expect(unknown.calls).toHaveLength(1);
    expect(await work(badKeys.expired)).toEqual(unknown);
    expect(await work(badKeys.revoked)).toEqual(unknown);
  });
});
