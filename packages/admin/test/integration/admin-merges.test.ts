import { describe, expect, it } from 'vitest';
import { AlertsTooLargeError } from '../../../../lib/operations/merge-alerts/move.ts';
import type { Table } from '../../../../lib/table/client.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { dyingAfterCommit, intercepted } from '../../../../test/support/faults.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { createHandlers, newTable, put, stored, testDeps } from '../../../../test/support/service.ts';
import { sentenceOf } from '../../cli/command-errors.ts';
import { adminOf } from '../support/run-admin.ts';
import { snapshot } from '../support/snapshot.ts';

const NOW = 2_050_000_000_000;
const HOUR = 3_600_000;
/** A comment with control characters, which would forge a line and clear a terminal. */
const COMMENT = 'same\ncause\u001b[2J';

const table = await newTable();
const admin = adminOf(table);

/** An account with a merge of two hours ago and one of now. @param through the client of the second merge */
async function merged(through: Table = table) {
  const tenant = await newAccount(table);
  const { account } = tenant;
  await tenant.member(7);
  const [from, to] = [await tenant.incident(), await tenant.incident({ title: 'Second', owner_id: 7 })];
  const alerts = await tenant.alerts(12);
  const merge = (client: Table, nowMs: number, body: { incident_id: string; comment?: string }) => {
    const { mergeAlerts } = createHandlers(testDeps(client, { now: () => nowMs }), { transactionItems: 8 });
    return tenant.merge(mergeAlerts, { alert_ids: alerts, ...body });
  };
  await merge(table, NOW - 2 * HOUR, { incident_id: from });
  const { body } = await merge(through, NOW, { incident_id: to, comment: COMMENT });
  const [{ sequence }] = await tenant.history(to);
  return {
    ...{ tenant, account, from, to, alerts, sequence: sequence as number },
    ...{ requestId: body.request_id as string, name: `Merge ${sequence} into incident ${to}` },
    /** Runs a command for the account. */
    run: (args: string) => admin(`${args} --account ${account}`, { now: () => NOW }),
  };
}

it('merge list --since without an account has the merges of all accounts by their time', async () => {
  const [one, other] = [await merged(), await merged()];
  const since = async (args: string) => admin(`merge list ${args}`, { now: () => NOW });
  const ours = async (args: string) => {
    const listed: { account_id: number; sequence: number; at_ms: number }[] = JSON.parse((await since(args)).out);
    return listed.filter(({ account_id }) => [one.account, other.account].includes(account_id));
  };
  const latest = await ours('--since 1h --json');
  expect(new Map(latest.map(({ account_id, sequence }) => [account_id, sequence]))).toEqual(
    new Map([one, other].map(({ account, sequence }) => [account, sequence])),
  );
  const times = (await ours('--since 3h --json')).map(({ at_ms }) => at_ms);
  expect(times).toEqual([NOW - 2 * HOUR, NOW - 2 * HOUR, NOW, NOW]);
  const { out } = await since('--since 1h');
  for (const { account, to, requestId } of [one, other])
    expect(out).toMatch(
      new RegExp(
        `^\\d+ +${'.'.repeat(23)} +${account} +merge +done +${to} +12 moved, 0 already there .* ${requestId}$`,
        'm',
      ),
    );
});

describe('merge alerts', () => {
  it('shows with --dry-run which alerts would move, and from where, and then moves them', async () => {
    const { tenant, account, from, to, alerts, run } = await merged();
    const alertIds = [...(await tenant.alerts(2)), ...alerts.slice(0, 3)];
    await tenant.merge(createHandlers(testDeps(table)).mergeAlerts, {
      alert_ids: alerts.slice(0, 2),
      incident_id: from,
    });
    const before = await snapshot(table, account);
    const args = `merge alerts ${to} ${alertIds.join(' ')} ${alertIds[0]} --comment c --title New --owner 7`;
    const { out } = await run(`${args} --dry-run --json`);
    const moves = alertIds.slice(0, 4).map((alert_id, index) => ({ alert_id, from: index < 2 ? null : from }));
    const json = { dry_run: true, incident_id: to, large: false, moves, stayed: [alerts[2]] };
    expect(JSON.parse(out)).toEqual(json);
    const text = await run(`${args} --dry-run`);
    expect(text.out).toBe(moves.map((move) => `${move.alert_id} from ${move.from ?? 'no incident'}\n`).join(''));
    expect(text.err).toContain(`2 alerts from ${from}\n`);
    expect(await snapshot(table, account)).toEqual(before);
    expect((await run(`${args} --yes`)).out).toBe(`5 alerts merged into incident ${to}.\n`);
    expect(await tenant.placements(alertIds)).toEqual(alertIds.map(() => to));
    const entry = { comment: 'c', new_title: 'New', new_owner_id: 7, by: expect.stringMatching(/^operator /) };
    expect((await tenant.history(to)).at(-1)).toMatchObject(entry);

    // One more than the transaction takes beside the check of the account.
    const many = await tenant.alerts(97);
    for (const ids of [many.slice(1), many]) {
      const { large } = JSON.parse((await run(`merge alerts ${to} ${ids.join(' ')} --json`)).out);
      expect((await tenant.history(to)).at(-1).large ?? false).toBe(large);
    }
  });

  it('refuses with --dry-run what the operation refuses', async () => {
    const { tenant, account, to, run } = await merged();
    // The fewest alerts of a large merge: of the 100 actions of a small one, four are of no alert.
    const alerts = await tenant.alerts(97);
    const refused = (message: string, exitCode = 1) => ({ exitCode, out: '', err: expect.stringContaining(message) });
    const unknown = await run(`merge alerts ${to} ${'f'.repeat(24)} --dry-run`);
    expect(unknown).toEqual(refused(`alert ${'f'.repeat(24)}`));
    const pending = Object.fromEntries(alerts.slice(0, 25).map((_, n) => [n + 1, to]));
    await put(table, keys.logHead(account), { pending });
    const full = await run(`merge alerts ${to} ${alerts.join(' ')} --dry-run`);
    await put(table, keys.logHead(account), { pending: {} }); // since other tests finish the merges of all accounts
    expect(full).toEqual(refused('run `merge finish`', 4));
  });
});

it('merge list has the request_id and the alerts of each merge, oldest first, and show incidents their numbers', async () => {
  const { from, to, alerts, sequence, requestId, run } = await merged();
  const list = async (option = '') => JSON.parse((await run(`merge list --json${option}`)).out);
  const all = await list();
  expect(all).toMatchObject([
    { incident_id: from, kind: 'merge', moved: 12, pending: false },
    { incident_id: to, sequence, request_id: requestId, moved: 12, stayed: 0, comment: COMMENT },
  ]);
  expect(new Set(all[1].alert_ids)).toEqual(new Set(alerts));
  expect([await list(' --since 1h'), await list(' --since 3h')]).toEqual([all.slice(1), all]);
  const shown = (await run('merge list --since 1h')).out;
  for (const text of [
    `  entry      ${sequence}\n  at         2034-12-17 20:26:40 UTC\n  what       merge\n  state      done\n`,
    `  incident   ${to}\n  alerts     12 moved, 0 already there\n`,
    `  request    ${requestId}\n`,
    /\n {2}effects {4}12 alerts from \w{24}\n {13}comment: same\\ncause\\u001b\[2J\n/,
    /alert ids {2}([0-9a-f]{24} ){10}and 2 more/,
  ])
    expect(shown).toMatch(text);
  const incidents = (await run('show incidents')).out;
  expect(incidents).toMatch(/^incident +owner +alerts +merges\n/);
  expect(incidents).toMatch(new RegExp(`^${to} Second +7 +12 +1$`, 'm'));
  expect(incidents).toMatch(new RegExp(`^${from} .* none +0 +1$`, 'm'));
});

describe('merge finish', () => {
  /** A merge whose call dies right after its commit, and after it has moved the first alert. */
  async function pending() {
    const merge = await merged(intercepted(table, dyingAfterCommit()));
    const key = keys.alert(merge.account, String(merge.alerts[0]));
    await put(table, key, { ...(await stored(table, key)), incident_id: merge.to, moved_sequence: merge.sequence });
    return merge;
  }

  it('moves the remaining alerts of the pending merges of an account, or only of those that are named', async () => {
    const { tenant, to, alerts, name, run } = await pending();
    expect((await run('merge list')).out).toContain('pending');
    expect((await run('check')).out).toBe('No problems found.\n');
    for (const named of ['', ` ${to}`])
      expect((await run(`merge finish${named} --dry-run`)).err).toContain(`${name} would be finished.`);
    for (const other of ['f'.repeat(24), `${to} 5`])
      expect((await run(`merge finish ${other}`)).out).not.toContain(name);
    expect(new Set(await tenant.placements(alerts)).size).toBe(2);
    expect(await run('merge finish')).toMatchObject({ exitCode: 0, out: `${name} finished.\n` });
    expect(new Set(await tenant.placements(alerts))).toEqual(new Set([to]));
    expect((await run('merge finish')).out).toBe('No merges are pending.\n');
    expect((await run('check')).exitCode).toBe(0);
  });

  it('finishes merges of other accounts, whose progress `merge list --pending` shows', async () => {
    const [first, second] = [await pending(), await pending()];
    const listed: { sequence: number }[] = JSON.parse((await admin('merge list --pending --json')).out);
    expect(listed).toContainEqual({
      ...{ account_id: first.account, incident_id: first.to, sequence: first.sequence },
      ...{ request_id: first.requestId, at_ms: NOW, alerts: 12, moved: 1 },
    });
    const text = (await second.run('merge list --pending')).out;
    expect([text.includes(second.to), text.includes(first.to)]).toEqual([true, false]);
    expect(text).toContain('1 of 12 alerts moved');

    const finished = ({ name, account }: typeof first) => `${name} of account ${account} finished.\n`;
    expect((await admin(`merge finish ${first.to} ${first.sequence}`)).out).toBe(finished(first));
    expect([await first.tenant.pending(), await second.tenant.pending()]).toEqual([[], [String(second.sequence)]]);
    expect((await admin('merge finish --all')).out).toContain(finished(second));
    expect(new Set(await second.tenant.placements(second.alerts))).toEqual(new Set([second.to]));
    expect((await admin('merge list --pending')).err).toBe('No merges are pending.\n');
  });

  it('finishes the others if the entry of one is missing, and fails', async () => {
    const { account, to, name, run } = await pending();
    const { pending: stored_ } = await stored(table, keys.logHead(account));
    await put(table, keys.logHead(account), { pending: { 1: to, ...stored_ } });
    const stuck = { account_id: account, incident_id: to, sequence: 1, reason: expect.stringMatching(/^The entry/) };
    const asJson = await run('merge finish --json');
    expect([asJson.exitCode, JSON.parse(asJson.out).not_finished]).toEqual([1, [stuck]]);
    await put(table, keys.logHead(account), { pending: { 1: to, ...stored_ } });
    const { exitCode, out, err } = await run('merge finish');
    await put(table, keys.logHead(account), { pending: {} }); // since other tests finish the merges of all accounts
    expect([exitCode, err]).toEqual([1, '1 of 2 merges not finished.\n']);
    expect(out).toMatch(`Merge 1 into incident ${to} stays pending: The entry`);
    expect(out).toContain(`${name} finished.\n`);
  });

  it('says which options it needs, as merge list does', async () => {
    const { account } = await newAccount(table);
    for (const args of ['merge finish', 'merge list', `merge finish --all --account ${account}`])
      expect(await admin(args)).toEqual({ exitCode: 2, out: '', err: expect.stringMatching(/ass .*--account/) });
  });

  it('names the alerts that cannot be updated', () => {
    expect(sentenceOf(new AlertsTooLargeError(['a', 'b']))).toMatch(/rows of alerts a, b: .*`merge finish`/);
  });
});
