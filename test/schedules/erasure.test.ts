/** Whatever runs beside an erasure, in whatever order, and wherever the erasure dies and is started again: nothing of the account is left. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import { hashAppKey } from '../../lib/http/app-keys.ts';
import { isUnavailable } from '../../lib/shared/concurrency.ts';
import type { Table } from '../../lib/table/client.ts';
import { isOfAccount, type Key, keys, parseKey } from '../../lib/table/keys.ts';
import {
  AccountError,
  changeAccount,
  putAccount,
  readAccount,
  storeGatewayKey,
} from '../../packages/admin/accounts/accounts.ts';
import { identityOfAppKey, putAppKey } from '../../packages/admin/accounts/app-key-admin.ts';
import { auditAction } from '../../packages/admin/accounts/audit-rows.ts';
import { deleteRows, endErasure, markErased } from '../../packages/admin/accounts/erase-account.ts';
import { checkTable } from '../../packages/admin/check/check.ts';
import { DataError } from '../../packages/admin/data/check-lines.ts';
import { loadData } from '../../packages/admin/data/load.ts';
import { LIMITS, mergesOf } from '../integration/merge-alerts/merging.ts';
import { newAccount } from '../support/incidents.ts';
import { ingestOver } from '../support/ingest.ts';
import { NOW, newAppKey } from '../support/service.ts';
import { anyFate, type Fate, onSchedules } from './schedule.ts';

const never = new AbortController().signal;

/**
 * What the erasure waits for, since it is bounded in time: calls of a key that is trusted, batches of the feed, and imports. Their own calls are
 * bounded, too, so none is late.
 */
const BOUNDED = ['merge', 'largeMerge', 'feed', 'import'] as const;
/** What it does not wait for. */
const UNBOUNDED = ['finish', 'issue', 'grant', 'create', 'gatewayKey'] as const;
type Name = (typeof BOUNDED)[number] | (typeof UNBOUNDED)[number];

const dies = fc.option(fc.record({ at: fc.nat(8), carriedOut: fc.boolean() }), { freq: 2 });
const bounded = fc.record({
  name: fc.constantFrom<Name>(...BOUNDED),
  fate: fc.record({ dies, faults: fc.constant<Fate['faults']>([]) }),
});
const unbounded = fc.record({ name: fc.constantFrom<Name>(...UNBOUNDED), fate: anyFate });
const cases = fc.record({
  processes: fc.array(fc.oneof(bounded, unbounded), { minLength: 1, maxLength: 4 }),
  /** Of the runs of the erasure before the last one. */
  fates: fc.tuple(anyFate, anyFate),
});

onSchedules(
  'nothing of an erased account is left, whoever writes beside the erasure',
  cases,
  async (each, schedule) => {
    const { table } = schedule;
    const tenant = await newAccount(table);
    const { account } = tenant;
    const incidents = [await tenant.incident(), await tenant.incident()];
    const alerts = await tenant.alerts(4, incidents[0]);
    await tenant.commitOnly(String(incidents[1]), alerts);
    const merges = mergesOf(table, tenant, incidents);
    const merge = (through: Table, alert_ids: readonly string[]) =>
      merges.send({ alert_ids, incident_id: String(incidents[1]) }, { through, now: () => NOW });
    const member = { kind: 'member', account_id: account, member_id: 1, name: 'n' };
    const work: Record<Name, (through: Table) => Promise<unknown>> = {
      merge: (through) => merge(through, alerts.slice(0, 1)),
      largeMerge: (through) => merge(through, alerts),
      feed: (through) =>
        ingestOver(through, () => NOW).send(member, { ...member, kind: 'host', host_id: 'h', retired: true }),
      import: (through) => loadData(through, 'data', [JSON.stringify(member)], { nowMs: NOW }),
      finish: (through) => merges.finish(through),
      async issue(through) {
        const row = await readAccount(through, account);
        if (row) await putAppKey(through, row, identityOfAppKey(newAppKey()), { created_at: 1 });
      },
      grant: (through) => changeAccount(through, account, () => ({ permissions: ['feed'] })),
      create: (through) => putAccount(through, { account_id: account, name: 'n', permissions: [] }),
      gatewayKey: (through) => storeGatewayKey(through, account, 'g'),
    };
    const run = (name: Name, fate: Fate) =>
      schedule.start(async (through) => {
        try {
          await work[name](through);
        } catch (error) {
          if (!(error instanceof AccountError || error instanceof DataError || isUnavailable(error))) throw error;
        }
      }, fate);

    const audit = (result: 'started' | 'done') => [
      auditAction(account, { id: randomUUID(), at_ms: 1, by: 'o', command: 'account erase', result }),
    ];
    const running = each.processes.map(({ name, fate }) => ({ name, ended: run(name, fate) }));
    const rowsLeft = () => (schedule.items() as unknown as Key[]).filter((row) => isOfAccount(row, account));
    async function erase(): Promise<void> {
      await schedule.repeat((through) => markErased(through, account, NOW, audit('started')), ...each.fates);
      // The account does not list the tenant's own key.
      const keysLeft = rowsLeft().filter((row) => parseKey(row)?.kind === 'appKey');
      expect(keysLeft).toMatchObject([keys.appKey(hashAppKey(tenant.appKey))]);
      await Promise.all(
        running.filter(({ name }) => (BOUNDED as readonly Name[]).includes(name)).map(({ ended }) => ended),
      );
      await schedule.repeat((through) => deleteRows(through, account, never), ...each.fates);
      await schedule.repeat((through) => endErasure(through, account, NOW, audit('done')), ...each.fates);
    }
    await schedule.run<unknown>([erase(), ...running.map(({ ended }) => ended)]);

    expect(new Set(rowsLeft().map((row) => parseKey(row)?.kind))).toEqual(new Set(['account', 'audit']));
    const mark = await readAccount(table, account);
    expect(mark).toMatchObject({ name: '', permissions: [], erasure_ended_at_ms: NOW });
    expect(mark).not.toHaveProperty('gateway_key');
    expect((await Array.fromAsync(checkTable(table))).flat()).toEqual([]);
    expect(LIMITS.transactionItems).toBeLessThan(alerts.length + 4); // the merge of all alerts is large
  },
);
