import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import { createAppKeys } from '../../lib/http/app-keys.ts';
import type { Caller } from '../../lib/http/operation.ts';
import type { Table } from '../../lib/table/client.ts';
import { AccountError, changeAccount, readAccount } from '../../packages/admin/accounts/accounts.ts';
import {
  identityOfAppKey,
  putAppKey,
  revokeAppKey,
  rotateAppKey,
} from '../../packages/admin/accounts/app-key-admin.ts';
import { auditAction } from '../../packages/admin/accounts/audit-rows.ts';
import { checkTable } from '../../packages/admin/check/check.ts';
import { DataError } from '../../packages/admin/data/check-lines.ts';
import { loadData } from '../../packages/admin/data/load.ts';
import { NOW, testDeps } from '../support/service.ts';
import { anyFate, lives, onSchedules } from './schedule.ts';

const [OWN, OTHER] = [1, 2];
const [FIRST, SECOND, THIRD] = ['1'.repeat(32), '2'.repeat(32), '3'.repeat(32)] as const;
const SECONDS = NOW / 1_000;
/** Longer than functions trust a key that they have looked up. */
const LATER_MS = 60_000;

const accountLine = (account_id: number) => ({ kind: 'account', account_id, name: 'Acme', permissions: [] });
const keyLine = (account_id: number, app_key: string) => ({ kind: 'app_key', account_id, app_key, created_at: 1 });
const load = (table: Table, ...records: object[]) => {
  const lines = records.map((record) => JSON.stringify(record));
  return loadData(table, 'data', lines, { nowMs: 1_000 });
};

async function ownAccount(table: Table) {
  const row = await readAccount(table, OWN);
  if (!row) throw new Error('the account is gone');
  return row;
}
const audit = () => [auditAction(OWN, { id: randomUUID(), at_ms: 1, by: 'o', command: 'c', result: 'done' })];
const details = { created_at: 1 };

/** What operators do at the same time. */
const COMMANDS = {
  issue: async (table: Table) => putAppKey(table, await ownAccount(table), identityOfAppKey(SECOND), details, audit()),
  importForOther: (table: Table) => load(table, keyLine(OTHER, SECOND)),
  importForOwn: (table: Table) => load(table, keyLine(OWN, SECOND)),
  importFirst: (table: Table) => load(table, keyLine(OWN, FIRST)),
  importAccount: (table: Table) => load(table, accountLine(OWN)),
  // By the clock of an operator that is an hour ahead.
  revoke: (table: Table) => revokeAppKey(table, OWN, identityOfAppKey(FIRST).hash, SECONDS + 3_600, audit()),
  async rotate(table: Table) {
    const replacement = { identity: identityOfAppKey(THIRD), details };
    await rotateAppKey(table, await ownAccount(table), identityOfAppKey(FIRST), replacement, SECONDS + 30, audit());
  },
  suspend: (table: Table) => changeAccount(table, OWN, () => ({ suspended: true }), [], audit()),
  permit: (table: Table) => changeAccount(table, OWN, () => ({ permissions: ['monit'] }), [], audit()),
};
type Command = keyof typeof COMMANDS;

const command = fc.record({ command: fc.constantFrom(...(Object.keys(COMMANDS) as Command[])), fate: anyFate });
const cases = fc.record({
  commands: fc.uniqueArray(command, { selector: (each) => each.command, minLength: 1, maxLength: 4 }),
  lookUps: fc.array(fc.constantFrom(FIRST, SECOND, THIRD), { maxLength: 2 }),
});

onSchedules(
  'what operators do to keys and accounts holds at once, whoever else does',
  cases,
  async (each, schedule) => {
    await load(schedule.table, accountLine(OWN), accountLine(OTHER), keyLine(OWN, FIRST));
    const done = new Set<Command>();
    /** Runs a command until it succeeds or is refused, as its operator does. */
    const operate = ({ command, fate }: (typeof each.commands)[number]) =>
      schedule.repeat(async (table) => {
        try {
          await COMMANDS[command](table);
          done.add(command);
        } catch (error) {
          if (!(error instanceof AccountError || error instanceof DataError)) throw error;
        }
      }, fate);
    const isReplaced = each.commands.some(({ command }) => command === 'importAccount');
    /** What must be true of a key that is looked up after these commands have succeeded. */
    function expectCaller(appKey: string, found: Caller | undefined, after: ReadonlySet<Command>, isLater: boolean) {
      if (appKey === FIRST && (after.has('revoke') || (after.has('rotate') && isLater))) expect(found).toBeUndefined();
      if (appKey !== SECOND && found) expect(found.accountId).toBe(OWN);
      if (found?.accountId !== OWN) return;
      expect(after.has('suspend'), 'a key of a suspended account works').toBe(false);
      if (after.has('permit') && !isReplaced) expect(found.permissions).toEqual(['monit']);
    }
    const lookUps = each.lookUps.map((appKey) =>
      schedule.start(async (table) => {
        let now = NOW;
        const appKeys = createAppKeys(testDeps(table, { now: () => now }));
        for (const isLater of [false, true]) {
          const before = new Set(done);
          expectCaller(appKey, await appKeys.find(appKey), before, isLater);
          now += LATER_MS;
        }
      }, lives),
    );
    await schedule.run<unknown>([...each.commands.map(operate), ...lookUps]);

    expect((await Array.fromAsync(checkTable(schedule.table))).flat()).toEqual([]);
    const appKeys = createAppKeys(testDeps(schedule.table, { now: () => NOW + LATER_MS }));
    for (const appKey of [FIRST, SECOND, THIRD]) {
      const found = await appKeys.find(appKey);
      expectCaller(appKey, found, done, true);
      const isKept = appKey === FIRST && !done.has('revoke') && !done.has('rotate');
      const isNew = appKey === THIRD && done.has('rotate');
      if ((isKept || isNew) && !done.has('suspend')) expect(found?.accountId).toBe(OWN);
    }
    // The key belongs to whoever stored it first: the others were refused.
    const [own, other] = [done.has('issue') || done.has('importForOwn'), done.has('importForOther')];
    expect(own && other, 'two accounts have one key').toBe(false);
    if (other) expect((await appKeys.find(SECOND))?.accountId).toBe(OTHER);
    if (own && !done.has('suspend')) expect((await appKeys.find(SECOND))?.accountId).toBe(OWN);
  },
);
