import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Table } from '../../../../lib/table/client.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { itemBytes, MAX_ITEM_BYTES } from '../../../../test/limits-proxy/item-size.ts';
import { aroundCalls, connectionLost } from '../../../../test/support/faults.ts';
import { type Account, newAccount } from '../../../../test/support/incidents.ts';
import { connectAgain, handlersOver, newTable, put, stored, testDeps } from '../../../../test/support/service.ts';
import { adminOf } from '../support/run-admin.ts';
import { snapshot } from '../support/torn.ts';

const NOW = 2_050_000_000_000;
const HOUR = 3_600_000;
/** A comment with control characters, which would forge a line and clear a terminal. */
const COMMENT = 'same\ncause\u001b[2J';

const table = await newTable();
const admin = adminOf(table);

/** An account with a merge of two hours ago and one of now. @param through the client of the second merge */
async function merged(through: Table = table) {
  const tenant = await newAccount(table);
  const [from, to] = [await tenant.incident(), await tenant.incident({ title: 'Second', owner_id: 7 })];
  const alerts = await tenant.alerts(12);
  const merge = (client: Table, nowMs: number, body: { incident_id: string; comment?: string }) => {
    const { mergeAlerts } = handlersOver(testDeps(client, { now: () => nowMs }), { transactionItems: 8 });
    return tenant.merge(mergeAlerts, { alert_ids: alerts, ...body });
  };
  await merge(table, NOW - 2 * HOUR, { incident_id: from });
  const { body } = await merge(through, NOW, { incident_id: to, comment: COMMENT });
  const [{ sequence }] = await tenant.feed(to);
  return { tenant, from, to, alerts, sequence: sequence as number, requestId: body.request_id as string };
}

describe('admin merge alerts', () => {
  it('shows with --dry-run which alerts would move, and from where, and writes nothing', async () => {
    const { tenant, from, to, alerts } = await merged();
    const unassigned = await tenant.alerts(2);
    const alertIds = [...unassigned, ...alerts.slice(0, 3)];
    await tenant.merge(handlersOver(testDeps(table)).mergeAlerts, { alert_ids: alerts.slice(0, 2), incident_id: from });
    const before = await snapshot(table, tenant.account);
    const repeated = alertIds.slice(0, 1);
    const args = [
      'merge',
      'alerts',
      to,
      ...alertIds,
      ...repeated,
      '--account',
      String(tenant.account),
      '--comment',
      'c',
    ];
    const { out, exitCode } = await admin([...args, '--dry-run', '--json']);
    expect([exitCode, JSON.parse(out)]).toEqual([
      0,
      {
        ...{ dry_run: true, incident_id: to, large: false },
        moves: alertIds.slice(0, 4).map((alert_id, index) => ({ alert_id, from: index < 2 ? null : from })),
        stayed: [alerts[2]],
      },
    ]);
    const text = await admin([...args, '--dry-run']);
    expect(text.out).toContain(`${alerts[0]} from ${from}\n`);
    expect(text.err).toContain(`2 alerts from ${from}\n`);
    expect(await snapshot(table, tenant.account)).toEqual(before);
    expect((await admin([...args, '--yes'])).out).toBe(`5 alerts merged into incident ${to}.\n`);
    expect(await tenant.placements(alertIds)).toEqual(alertIds.map(() => to));
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
    await put(table, keys.mergeOrder(tenant.account), { pending: {} }); // since other tests finish the merges of all accounts
    expect([full.exitCode, full.err]).toEqual([1, expect.stringContaining('run `merge finish`')]);
  });
});

describe('admin merge list', () => {
  it('lists the request_id and the alerts of each merge, oldest first, also since a time', async () => {
    const { tenant, from, to, alerts, sequence, requestId } = await merged();
    const list = async (option = '') => {
      const { out } = await admin(`merge list --account ${tenant.account} --json${option}`, { now: () => NOW });
      return JSON.parse(out);
    };
    const all = await list();
    expect(all).toMatchObject([
      { incident_id: from, kind: 'merge', moved: 12, pending: false },
      { incident_id: to, sequence, request_id: requestId, moved: 12, stayed: 0, comment: COMMENT },
    ]);
    expect(new Set(all[1].alert_ids)).toEqual(new Set(alerts));
    expect(await list(' --since 1h')).toEqual(all.slice(1));
    expect(await list(' --since 3h')).toEqual(all);
  });

  it('escapes text of callers, and prints the first ten alert ids', async () => {
    const { tenant, to, sequence, requestId } = await merged();
    const { out } = await admin(`merge list --account ${tenant.account} --since 1h`, { now: () => NOW });
    const lines = out.split('\n');
    expect(lines[0]).toBe(`00${sequence}  2034-12-17 20:26:40 UTC  merge  done`);
    expect(lines).toEqual(
      expect.arrayContaining([
        `  incident    ${to}`,
        `  request_id  ${requestId}`,
        '  comment     same\\ncause\\u001b[2J',
        expect.stringMatching(/alert ids {3}([0-9a-f]{24} ){10}and 2 more/),
      ]),
    );
  });
});

describe('admin show incidents', () => {
  it('lists incidents with the numbers of their alerts and entries', async () => {
    const { tenant, from, to } = await merged();
    const { out } = await admin(`show incidents --account ${tenant.account} --json`);
    const ofId = (id: string) =>
      JSON.parse(out).find((incident: { incident_id: string }) => incident.incident_id === id);
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

  /** A merge whose call dies after two transactions: the commit, and the first moves of alerts. */
  async function pending() {
    const dying = connectAgain(table);
    const transactions: Promise<unknown>[] = [];
    aroundCalls(dying, async ({ command }, send) => {
      if (transactions.length === 2) {
        await Promise.all(transactions);
        throw connectionLost();
      }
      const sent = send();
      if (command.startsWith('TransactWrite')) transactions.push(sent);
      await sent;
    });
    const merge = await merged(dying);
    const places = await merge.tenant.placements(merge.alerts);
    const remaining = merge.alerts.filter((_, index) => places[index] === merge.from);
    expect([0, merge.alerts.length]).not.toContain(remaining.length);
    return { ...merge, remaining };
  }

  it('moves the remaining alerts', async () => {
    const { tenant, to, alerts, sequence } = await pending();
    const finish = `merge finish --account ${tenant.account}`;
    expect((await admin(`merge list --account ${tenant.account}`)).out).toContain('pending');
    const dry = await admin(`${finish} --dry-run`);
    expect(dry.err).toContain(`Merge ${sequence} into incident ${to} would be finished.`);
    expect(new Set(await tenant.placements(alerts)).size).toBe(2);
    const out = `Merge ${sequence} into incident ${to} finished.\n`;
    expect(await admin(finish)).toMatchObject({ exitCode: 0, out });
    expect(new Set(await tenant.placements(alerts))).toEqual(new Set([to]));
    expect((await admin(finish)).out).toBe('No merges are pending.\n');
    expect((await admin(`check --account ${tenant.account}`)).exitCode).toBe(0);
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
    const { out } = await admin('merge finish --all');
    for (const { tenant, sequence, to, alerts } of both) {
      expect(out).toContain(`Merge ${sequence} into incident ${to} of account ${tenant.account} finished.\n`);
      expect(new Set(await tenant.placements(alerts))).toEqual(new Set([to]));
    }
    const err = 'Name an incident, or pass --account or --all.\n';
    expect(await admin('merge finish')).toEqual({ exitCode: 2, out: '', err });
  });

  it('finds the account of a pending merge, whose progress `merge list --pending` shows', async () => {
    const [first, second] = [await pending(), await pending()];
    const { out } = await admin('merge list --pending --json');
    const moved = first.alerts.length - first.remaining.length;
    expect(JSON.parse(out)).toContainEqual({
      ...{ account_id: first.tenant.account, incident_id: first.to, sequence: first.sequence },
      ...{ request_id: first.requestId, at_ms: NOW, alerts: 12, moved },
    });
    const text = (await admin(`merge list --pending --account ${second.tenant.account}`)).out;
    expect([text.includes(second.to), text.includes(first.to)]).toEqual([true, false]);
    expect(text).toContain(`${12 - second.remaining.length} of 12 alerts moved`);
    const finished = await admin(`merge finish ${first.to} ${first.sequence}`);
    expect(finished.out).toBe(
      `Merge ${first.sequence} into incident ${first.to} of account ${first.tenant.account} finished.\n`,
    );
    expect(await first.tenant.pending()).toEqual([]);
    expect(await second.tenant.pending()).toHaveLength(1);
    await admin('merge finish --all');
    expect((await admin('merge list --pending')).err).toBe('No merges are pending.\n');
    expect((await admin('merge list')).exitCode).toBe(2);
  });

  it('names the alerts that cannot be updated', async () => {
    const { tenant, remaining } = await pending();
    const key = keys.alert(tenant.account, remaining[0] as string);
    const alert = await stored(table, key);
    const bytes = itemBytes(marshall(alert));
    await put(table, key, { ...alert, notes: 'x'.repeat(MAX_ITEM_BYTES - bytes - 'notes'.length - 10) });
    const problem = `DynamoDB refuses to update the rows of alerts ${remaining[0]}`;
    expect(await admin(`merge finish --account ${tenant.account}`)).toMatchObject({
      ...{ exitCode: 1, err: expect.stringContaining(problem) },
    });
  });
});
