import { gzipSync } from 'node:zlib';
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

interface Tenant {
  account: number;
  appKey: string;
  incident: string;
  alert: string;
  cursor: string;
}

let clock = NOW;

async function newTenant(text: string): Promise<Tenant> {
  const tenant = await newAccount(table);
  const [incident, alert] = [objectId(), objectId()];
  await put(table, keys.incident(tenant.account, incident), { incident_id: incident, title: text });
  await put(table, keys.alert(tenant.account, alert), { alert_id: alert, title: text });
  await put(table, keys.workItem(tenant.account, `item of ${text.length}`), {
    work_item_id: `item of ${text.length}`,
    version: 1,
    title: text,
  });
  await put(table, keys.host(tenant.account, text), inventory());
  await put(table, keys.rumResource(tenant.account), { ...RUM_RECORD, resource_name: text });
  return { ...tenant, incident, alert, cursor: sealCursor(Buffer.from(`secret of ${tenant.account}`), text) };
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

/** The bodies of an operation that the rows of TABLE send. */
interface Route {
  name: OperationName;
  /** A body that passes all checks. */
  valid(): Record<string, unknown>;
  /** Names of a field that takes text and of one that takes an integer; empty where there is none. */
  text: string;
  integer: string;
  /** A body that names what belongs to the other tenant, and the code of its answer. */
  foreign(): Record<string, unknown>;
  foreignCode: ErrorCode | 'OK';
}

const ROUTES: Readonly<Record<OperationName, Omit<Route, 'name'>>> = {
  'browse-fleet': {
    valid: () => ({ limit: 1 }),
    text: 'cursor',
    integer: 'limit',
    foreign: () => ({ cursor: other.cursor, account_id: other.account }),
    foreignCode: 'InvalidParameter',
  },
  'get-rum-resource': {
    valid: () => ({}),
    text: '',
    integer: '',
    foreign: () => ({ account_id: other.account }),
    foreignCode: 'OK',
  },
  'delete-work-item': {
    valid: () => ({ work_item_id: 'none', version: 1 }),
    text: 'work_item_id',
    integer: 'version',
    foreign: () => ({ work_item_id: `item of ${SECRET.length}`, version: 1, account_id: other.account }),
    foreignCode: 'ResourceNotFound',
  },
  'merge-alerts': {
    valid: () => ({ alert_ids: [own.alert], incident_id: objectId() }),
    text: 'comment',
    integer: 'owner_id',
    foreign: () => ({ alert_ids: [other.alert], incident_id: other.incident }),
    foreignCode: 'ResourceNotFound',
  },
};

/** The code of the answer to a valid body: there is no such work item, and no such incident. */
const plain = ({ foreignCode, name }: Route): ErrorCode | 'OK' =>
  name === 'browse-fleet' || name === 'get-rum-resource' ? 'OK' : foreignCode;

interface Row {
  send(route: Route): EventOptions;
  code(route: Route): ErrorCode | 'OK';
  /** The field that a route must have; routes without it are left out. */
  needs?: 'text' | 'integer';
}
const json = (body: object) => JSON.stringify(body);
const inserted = (route: Route, member: string) => `${json(route.valid()).slice(0, -1)},${member}}`.replace('{,', '{');
const always = (code: ErrorCode | 'OK') => () => code;
const withKey = (options: EventOptions): EventOptions => ({ appKey: own.appKey, ...options });

const TABLE: Record<string, Row> = {
  'no key': { send: (r) => ({ body: r.valid() }), code: always('Unauthorized') },
  'an unknown key': { send: (r) => ({ appKey: 'x'.repeat(43), body: r.valid() }), code: always('Unauthorized') },
  'a valid key before an unknown one': {
    send: (r) => ({ appKey: [own.appKey, 'x'], body: r.valid() }),
    code: always('Unauthorized'),
  },
  'a key in headers only': {
    send: (r) => ({
      body: r.valid(),
      headers: {
        app_key: own.appKey,
        'X-Api-Key': own.appKey,
        Authorization: `Bearer ${own.appKey}`,
        Cookie: `app_key=${own.appKey}`,
      },
    }),
    code: always('Unauthorized'),
  },
  'a key in the body only': {
    send: (r) => ({ body: { ...r.valid(), app_key: own.appKey } }),
    code: always('Unauthorized'),
  },
  'a key without permissions': {
    send: (r) => ({ appKey: badKeys.withoutPermission, body: r.valid() }),
    code: (r) => (r.name === 'browse-fleet' ? 'AccessDenied' : plain(r)),
  },
  "another tenant's ids": { send: (r) => withKey({ body: r.foreign() }), code: (r) => r.foreignCode },
  'a body over the limit': {
    send: (r) => withKey({ rawBody: inserted(r, `"x":"${'x'.repeat(262_144)}"`) }),
    code: always('EntityTooLarge'),
  },
  ['__proto__']: {
    send: (r) => withKey({ rawBody: inserted(r, '"__proto__":{"limit":"x","version":"x","polluted":true}') }),
    code: (r) => plain(r),
  },
  'constructor.prototype': {
    send: (r) => withKey({ rawBody: inserted(r, '"constructor":{"prototype":{"polluted":true}}') }),
    code: (r) => plain(r),
  },
  'a JSON key twice: the last counts': {
    send: (r) => withKey({ rawBody: inserted(r, `"${r.integer}":"x"`) }),
    code: always('InvalidParameter'),
    needs: 'integer',
  },
  'half a surrogate pair': {
    send: (r) =>
      withKey({
        rawBody: inserted({ ...r, valid: () => ({ ...r.valid(), [r.text]: undefined }) }, `"${r.text}":"\\ud800"`),
      }),
    code: always('InvalidParameter'),
    needs: 'text',
  },
  'a NUL': {
    send: (r) =>
      withKey({
        rawBody: inserted({ ...r, valid: () => ({ ...r.valid(), [r.text]: undefined }) }, `"${r.text}":"a\\u0000b"`),
      }),
    code: (r) => (r.name === 'browse-fleet' ? 'InvalidParameter' : plain(r)),
    needs: 'text',
  },
  'a body in gzip': {
    send: (r) =>
      withKey({
        rawBody: gzipSync(json(r.valid())).toString('base64'),
        isBase64Encoded: true,
        headers: { 'Content-Encoding': 'gzip' },
      }),
    code: always('BadRequest'),
  },
  'headers that ask for another method': {
    send: (r) => withKey({ body: r.valid(), headers: { 'X-HTTP-Method': 'GET', 'X-Method-Override': 'PUT' } }),
    code: (r) => plain(r),
  },
  'the one such header that API Gateway goes by': {
    send: (r) => withKey({ body: r.valid(), headers: { 'X-HTTP-Method-Override': 'DELETE' } }),
    code: always('MethodNotAllowed'),
  },
  'headers that name another path or host': {
    send: (r) =>
      withKey({
        body: r.valid(),
        headers: { 'X-Original-URL': '/', 'X-Rewrite-URL': '/', 'X-Forwarded-Host': 'evil.example' },
      }),
    code: (r) => plain(r),
  },
};

/** All rows but the rate counts, which a refused call may write. */
async function contents(): Promise<unknown[]> {
  const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.name, ConsistentRead: true }));
  return Items.filter(({ pk }) => !String(pk).includes('#RATE#')).sort((one, two) =>
    `${one.pk}${one.sk}`.localeCompare(`${two.pk}${two.sk}`),
  );
}

describe.each(operations)('$path', (operation) => {
  const route = { name: operation.name, ...ROUTES[operation.name] };
  it.each(Object.entries(TABLE).filter(([, { needs }]) => !needs || route[needs] !== ''))(
    '%s',
    async (_name, { send, code }) => {
      clock += 60_000;
      const before = await contents();
      const answer = await callOperation(handlers, operation, send(route));
      expect(answer.body.error?.code ?? 'OK').toBe(code(route));
      expect(answer.text).not.toContain(SECRET);
      expect(JSON.stringify(answer.headers)).not.toContain(SECRET);
      expect(await contents()).toEqual(before);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );

  it('does the same work for an unknown, an expired and a revoked key', async () => {
    const work = async (appKey: string) => {
      clock += 60_000;
      const before = tap.attempts.length;
      const { text } = await callOperation(handlers, operation, { appKey, body: route.valid() });
      const calls = tap.attempts.slice(before).map(({ command, body }) => `${command} ${body.length}`);
      return { calls, length: text.length };
    };
    const unknown = await work('y'.repeat(43));
    expect(unknown.calls).toHaveLength(1);
    expect(await work(badKeys.expired)).toEqual(unknown);
    expect(await work(badKeys.revoked)).toEqual(unknown);
  });
});
