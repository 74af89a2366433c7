/** What holds for every operation, whoever calls it: tenants are isolated, and answers do not reveal why a key is invalid. */
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../lib/http/errors.ts';
import { sealCursor } from '../../../lib/operations/browse-fleet/browse.ts';
import { type OperationName, operations } from '../../../lib/operations/index.ts';
import { keys } from '../../../lib/table/keys.ts';
import { RUM_RECORD } from '../../support/accounts.ts';
import { inventory } from '../../support/fleet.ts';
import { newAccount, objectId } from '../../support/incidents.ts';
import {
  callOperation,
  type EventOptions,
  handlersOver,
  NOW,
  newTable,
  put,
  putAppKey,
  testDeps,
} from '../../support/service.ts';
import { tapWire } from '../../support/wire.ts';

/** Every text of the other tenant contains this. The caller may know the ids of that tenant. */
const SECRET = 'belongs-to-the-other-tenant';

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
const ownTenant = await newTenant('own');
const otherTenant = await newTenant(SECRET);
const tap = tapWire(table);
let clock = NOW;
const handlers = handlersOver(testDeps(table, { now: () => clock }));

interface Requests {
  /** A body that passes all checks. */
  valid: Record<string, unknown>;
  /** A body that names what belongs to the other tenant, and the code of its answer. */
  foreign: Record<string, unknown>;
  foreignCode: ErrorCode | 'OK';
}

const REQUESTS: Readonly<Record<OperationName, Requests>> = {
  'browse-fleet': {
    valid: { limit: 1 },
    foreign: { cursor: otherTenant.cursor, account_id: otherTenant.account },
    foreignCode: 'InvalidParameter',
  },
  'get-rum-resource': { valid: {}, foreign: { account_id: otherTenant.account }, foreignCode: 'OK' },
  'delete-work-item': {
    valid: { work_item_id: ownTenant.workItem, version: 1 },
    foreign: { work_item_id: otherTenant.workItem, version: 1, account_id: otherTenant.account },
    foreignCode: 'ResourceNotFound',
  },
  'merge-alerts': {
    valid: { alert_ids: [ownTenant.alert], incident_id: ownTenant.incident },
    foreign: { alert_ids: [otherTenant.alert], incident_id: otherTenant.incident },
    foreignCode: 'ResourceNotFound',
  },
  'send-records': {
    valid: { records: [{ kind: 'alert', source_id: 's', title: 't' }] },
    foreign: { records: [{ kind: 'alert', source_id: 's', title: 't', account_id: otherTenant.account }] },
    foreignCode: 'InvalidParameter',
  },
  'send-notification': {
    valid: { alerts: [] },
    foreign: { alerts: [], account_id: otherTenant.account },
    foreignCode: 'OK',
  },
};

/** All rows but the rate counts. */
async function contents(): Promise<unknown[]> {
  const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.name, ConsistentRead: true }));
  return Items.filter(({ pk }) => !String(pk).includes('#RATE#')).sort((a, b) =>
    `${a.pk}${a.sk}`.localeCompare(`${b.pk}${b.sk}`),
  );
}

describe.each(operations)('$path', (operation) => {
  const { valid, foreign, foreignCode } = REQUESTS[operation.name];

  async function call(options: EventOptions) {
    clock += 1_000; // the rate limit's next second
    return callOperation(handlers, operation, options);
  }

  it("changes nothing, and shows nothing of another tenant, for the ids of that tenant's entities", async () => {
    await call({ appKey: otherTenant.appKey, body: valid }); // now warm functions remember what belongs to the other tenant
    const before = await contents();
    const answer = await call({ appKey: ownTenant.appKey, body: foreign });
    expect(answer.body.error?.code ?? 'OK').toBe(foreignCode);
    expect(JSON.stringify(answer)).not.toContain(SECRET);
    expect(await contents()).toEqual(before);
  });

  it('does the same work for an unknown, an expired and a revoked key', async () => {
    const workFor = async (invalidKey: string) => {
      const before = tap.attempts.length;
      const { text } = await call({ appKey: invalidKey, body: valid });
      const reads = tap.attempts.slice(before).map(({ command, body }) => `${command} ${body.length}`);
      return { reads, length: text.length };
    };
    const unknown = await workFor('y'.repeat(43));
    expect(unknown.reads).toHaveLength(1);
    for (const row of [{ expires_at: 1 }, { revoked_at: 1 }])
      expect(await workFor(await putAppKey(table, { account_id: ownTenant.account, ...row }))).toEqual(unknown);
  });
});
