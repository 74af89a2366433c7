import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { itemBytes, MAX_ITEM_BYTES } from '../../../../lib/dynamodb/item-size.ts';
import { keys } from '../../../../lib/dynamodb/keys.ts';
import type { MovedAlerts } from '../../../../lib/dynamodb/rows.ts';
import { type Account, newAccount } from '../../../../test/support/incidents.ts';
import { handlersOver, newTable, put, stored, testDeps } from '../../../../test/support/service.ts';
import { overwrite, snapshot } from '../../../../test/support/torn.ts';
import { adminOf } from '../support/run-admin.ts';

const NOW = 2_050_000_000_000;
const HOUR = 3_600_000;

const table = await newTable();
const admin = adminOf(table);

/** An account with a merge of two hours ago and one of now, with a comment that would deceive a terminal. */
async function merged() {
  const tenant = await newAccount(table);
  const [from, to] = [await tenant.incident(), await tenant.incident({ title: 'Second', owner_id: 7 })];
  const alerts = await tenant.alerts(12);
  const merge = (nowMs: number, incidentId: string, comment?: string) => {
    const { mergeAlerts } = handlersOver(testDeps(table, { now: () => nowMs }), { transactionItems: 8 });
    return tenant.merge(mergeAlerts, { alert_ids: alerts, incident_id: incidentId, comment });
  };
  await merge(NOW - 2 * HOUR, from);
  const { body } = await merge(NOW, to, 'same\ncause\u001b[2J');
  const sequence = (await tenant.feed(to))[0]?.sequence as number;
  return { tenant, from, to, alerts, sequence, requestId: body.request_id as string };
}

describe('admin merge alerts', () => {
  it('shows with --dry-run which alerts would move, and from where, and writes nothing', async () => {
    const { tenant, from, to, alerts } = await merged();
    const free = await tenant.alerts(2);
    const given = [...free, ...alerts.slice(0, 3)];
    await tenant.merge(handlersOver(testDeps(table)).mergeAlerts, { alert_ids: alerts.slice(0, 2), incident_id: from });
    const before = await snapshot(table, tenant.account);
    const twice = given.slice(0, 1);
    const args = ['merge', 'alerts', to, ...given, ...twice, '--account', String(tenant.account), '--comment', 'c'];
    const { out, exitCode } = await admin([...args, '--dry-run', '--json']);
    expect([exitCode, JSON.parse(out)]).toEqual([
      0,
      {
        ...{ dry_run: true, incident_id: to, large: false },
        moves: given.slice(0, 4).map((alert_id, index) => ({ alert_id, from: index < 2 ? null : from })),
        stayed: [alerts[2]],
      },
    ]);
    const text = await admin([...args, '--dry-run']);
    expect(text.out).toContain(`${alerts[0]} from ${from}\n`);
    expect(text.err).toContain(`2 alerts from ${from}\n`);
    expect(await snapshot(table, tenant.account)).toEqual(before);
    expect((await admin([...args, '--yes'])).out).toBe(`5 alerts merged into incident ${to}.\n`);
    expect(await tenant.placements(given)).toEqual(given.map(() => to));
    expect((await tenant.feed(to)).at(-1)).toMatchObject({ comment: 'c', by: expect.stringMatching(/^operator /) });
  });

  it('refuses with --dry-run what the operation refuses, and writes nothing', async () => {
    const tenant = await newAccount(table);
    const to = await tenant.incident();
    const alerts = await tenant.alerts(200); // more than a small merge reads
    const before = await snapshot(table, tenant.account);
    const dry = (...args: string[]) =>
      admin(['merge', 'alerts', ...args, '--account', String(tenant.account), '--dry-run', '--json']);
    expect(JSON.parse((await dry(to, ...alerts)).out)).toMatchObject({ large: true, stayed: [] });
    const unknown = 'f'.repeat(24);
    for (const [args, message] of [
      [[to, unknown], `alert ${unknown}`],
      [[unknown, alerts[0] as string], `incident ${unknown}`],
      [[to, alerts[0] as string, '--owner', '99'], 'member 99'],
    ] as const)
      expect(await dry(...args)).toMatchObject({ exitCode: 1, out: '', err: expect.stringContaining(message) });
    expect(await snapshot(table, tenant.account)).toEqual(before);
    const pending = Object.fromEntries(alerts.slice(0, 25).map((_, n) => [n + 1, to]));
    await put(table, keys.mergeOrder(tenant.account), { pending });
    const full = await dry(to, ...alerts.slice(0, 100));
    await put(table, keys.mergeOrder(tenant.account), { pending: {} }); // for tests of all accounts
    expect([full.exitCode, full.err]).toEqual([1, expect.stringContaining('run `merge finish`')]);
  });
});

describe('admin merge list', () => {
  it('lists the request_id and the alerts of each merge, oldest first', async () => {
    const { tenant, from, to, alerts, sequence, requestId } = await merged();
    const { out, exitCode } = await admin(`merge list --account ${tenant.account} --json`);
    expect(exitCode).toBe(0);
    expect(JSON.parse(out)).toMatchObject([
      { incident_id: from, kind: 'merge', moved: 12, pending: false },
      { incident_id: to, sequence, request_id: requestId, moved: 12, stayed: 0, comment: 'same\ncause\u001b[2J' },
    ]);
    expect([...JSON.parse(out)[1].alert_ids].sort()).toEqual([...alerts].sort());
  });

  it('lists only merges since the given time', async () => {
    const { tenant, to } = await merged();
    const list = async (since: string) => {
      const { out } = await admin(`merge list --account ${tenant.account} --since ${since} --json`, { now: () => NOW });
      return JSON.parse(out).map((one: { incident_id: string }) => one.incident_id);
    };
    expect(await list('1h')).toEqual([to]);
    expect(await list('3h')).toHaveLength(2);
  });

  it('escapes text of callers, and prints the first ten alert ids', async () => {
    const { tenant, to, sequence, requestId } = await merged();
    const { out } = await admin(`merge list --account ${tenant.account} --since 1h`, { now: () => NOW });
    const lines = out.split('\n');
    expect(lines[0]).toBe(`00${sequence}  2034-12-17 20:26:40 UTC  merge  done`);
    expect(lines).toContain(`  incident    ${to}`);
    expect(lines).toContain(`  request_id  ${requestId}`);
    expect(lines).toContain('  comment     same\\ncause\\u001b[2J');
    expect(out).toMatch(/alert ids {3}([0-9a-f]{24} ){10}and 2 more/);
  });

  it('says so if there are none', async () => {
    const tenant = await newAccount(table);
    const { err } = await admin(`merge list --account ${tenant.account} --since 1h`);
    expect(err).toBe(`Account ${tenant.account} has no merges since then.\n`);
  });
});

describe('admin show incidents', () => {
  it('lists incidents with the numbers of their alerts and entries', async () => {
    const { tenant, from, to } = await merged();
    const { out } = await admin(`show incidents --account ${tenant.account} --json`);
    const ofId = (id: string) => JSON.parse(out).find((one: { incident_id: string }) => one.incident_id === id);
    expect(ofId(to)).toEqual({ incident_id: to, title: 'Second', owner_id: 7, alerts: 12, entries: 1 });
    expect(ofId(from)).toMatchObject({ alerts: 0, entries: 1 });
    const text = (await admin(`show incidents --account ${tenant.account}`)).out;
    expect(text).toMatch(/^incident_id +alerts +entries +owner_id +title\n/);
    expect(text).toMatch(new RegExp(`^${to} +12 +1 +7 +Second$`, 'm'));
  });
});

describe('admin merge finish', () => {
  async function setPending({ account }: Account, pending: object) {
    const key = keys.mergeOrder(account);
    await put(table, key, { ...(await stored(table, key)), pending });
  }

  /** A merge as an interrupted call leaves it: some alerts are not moved. */
  async function pending() {
    const one = await merged();
    const { tenant, from, to, sequence } = one;
    const rows = await snapshot(table, tenant.account);
    const moves = keys.feedMoves(tenant.account, to, sequence, 0);
    const left = new Map([...rows].filter(([, { pk, sk }]) => pk !== moves.pk || sk !== moves.sk));
    await overwrite(table, rows, left);
    const { moved } = rows.get(`${moves.pk}\n${moves.sk}`) as unknown as MovedAlerts;
    const undone = moved[from] ?? [];
    const first = (await tenant.feed(from))[0]?.sequence;
    for (const id of undone) {
      const { moved_from: _to, ...alert } = await stored(table, keys.alert(tenant.account, id));
      await put(table, alert, { ...alert, incident_id: from, moved_sequence: first });
    }
    await setPending(tenant, { [sequence]: to });
    return { ...one, undone };
  }

  it('moves the alerts that are left, of all pending merges or of one', async () => {
    for (const which of ['all', 'one']) {
      const { tenant, to, alerts, sequence, undone } = await pending();
      expect(undone.length).toBeGreaterThan(0);
      const args = which === 'all' ? '' : `${to} ${sequence} `;
      expect((await admin(`merge list --account ${tenant.account}`)).out).toContain('pending');
      const dry = await admin(`merge finish ${args}--account ${tenant.account} --dry-run`);
      expect(dry.err).toContain(`Merge ${sequence} into incident ${to} would be finished.`);
      expect(new Set(await tenant.placements(alerts)).size).toBe(2);
      const { out, exitCode } = await admin(`merge finish ${args}--account ${tenant.account}`);
      expect([out, exitCode]).toEqual([`Merge ${sequence} into incident ${to} finished.\n`, 0]);
      expect(new Set(await tenant.placements(alerts))).toEqual(new Set([to]));
      expect((await admin(`merge finish --account ${tenant.account}`)).out).toBe('No merges are pending.\n');
      expect((await admin(`check --account ${tenant.account}`)).exitCode).toBe(0);
    }
  });

  it('finishes only the merge that is named', async () => {
    const { tenant, from, to, sequence } = await pending();
    const other = (await tenant.feed(from))[0]?.sequence as number;
    const finished = async (args: string) => {
      const { out, err } = await admin(`merge finish ${args}--account ${tenant.account} --dry-run`);
      return [...`${out}${err}`.matchAll(/Merge (\d+) into/g)].map(([, number]) => Number(number));
    };
    await setPending(tenant, { [sequence]: to, [other]: from });
    expect(new Set(await finished(''))).toEqual(new Set([sequence, other]));
    expect(await finished(`${to} `)).toEqual([sequence]);
    expect(await finished(`${from} ${other} `)).toEqual([other]);
    expect(await finished(`${to} ${other} `)).toEqual([]);
    await setPending(tenant, {});
  });

  it('finishes the pending merges of all accounts', async () => {
    const both = [await pending(), await pending()];
    const { out, exitCode } = await admin('merge finish --all');
    expect(exitCode).toBe(0);
    for (const { tenant, sequence, to, alerts } of both) {
      expect(out).toContain(`Merge ${sequence} into incident ${to} of account ${tenant.account} finished.\n`);
      expect(new Set(await tenant.placements(alerts))).toEqual(new Set([to]));
    }
    const unclear = await admin('merge finish');
    expect([unclear.exitCode, unclear.err]).toEqual([2, 'Name an incident, or pass --account or --all.\n']);
  });

  it('finds the account of a pending merge, whose progress `merge list --pending` shows', async () => {
    const [one, other] = [await pending(), await pending()];
    const { out } = await admin('merge list --pending --json');
    const moved = one.alerts.length - one.undone.length;
    const shown = JSON.parse(out).find(({ incident_id }: { incident_id: string }) => incident_id === one.to);
    expect(shown).toEqual({
      ...{ account_id: one.tenant.account, incident_id: one.to, sequence: one.sequence },
      ...{ request_id: one.requestId, at_ms: NOW, alerts: 12, moved },
    });
    const text = (await admin(`merge list --pending --account ${other.tenant.account}`)).out;
    expect([text.includes(other.to), text.includes(one.to)]).toEqual([true, false]);
    expect(text).toContain(`${moved} of 12 alerts moved`);
    const finished = await admin(`merge finish ${one.to} ${one.sequence}`);
    expect(finished.out).toBe(
      `Merge ${one.sequence} into incident ${one.to} of account ${one.tenant.account} finished.\n`,
    );
    expect(await one.tenant.pending()).toEqual([]);
    expect(await other.tenant.pending()).toHaveLength(1);
    await admin('merge finish --all');
    expect((await admin('merge list --pending')).err).toBe('No merges are pending.\n');
    expect((await admin('merge list')).exitCode).toBe(2);
  });

  it('names the alerts that cannot be updated', async () => {
    const { tenant, sequence, to, undone } = await pending();
    const key = keys.alert(tenant.account, undone[0] as string);
    const alert = await stored(table, key);
    const bytes = itemBytes(marshall(alert));
    await put(table, key, { ...alert, notes: 'x'.repeat(MAX_ITEM_BYTES - bytes - 'notes'.length - 10) });
    const { err, exitCode } = await admin(`merge finish --account ${tenant.account}`);
    expect(exitCode).toBe(1);
    expect(err).toContain(
      `Merge ${sequence} into incident ${to}: DynamoDB refuses to update the rows of alerts ${undone[0]}`,
    );
  });
});
