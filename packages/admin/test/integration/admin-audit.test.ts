import { describe, expect, it } from 'vitest';
import { collections, keys } from '../../../../lib/table/keys.ts';
import type { AuditEntry } from '../../../../lib/table/rows.ts';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { type AroundCall, aroundCalls, connectionLost, losing } from '../../../../test/support/faults.ts';
import { inventory, live } from '../../../../test/support/fleet.ts';
import { objectId } from '../../../../test/support/incidents.ts';
import { connectAgain, everythingIn, newTable, put, stored, storedUnder } from '../../../../test/support/service.ts';
import { changeAccount } from '../../accounts/accounts.ts';
import { createAudit } from '../../cli/audit-trail.ts';
import { type AdminOptions, adminOf, commandsWith } from '../support/run-admin.ts';

const table = await newTable();
const run = adminOf(table);
const admin = (args: string, options?: AdminOptions) => run(args, { now, ...options });

let last = 0;
/** A clock that never returns the same time twice, since audit rows are ordered by their time in milliseconds. */
const now = () => {
  last = Math.max(last + 1, Date.now());
  return last;
};

const rowsOf = (account: number): Promise<(AuditEntry & { ttl: number })[]> =>
  storedUnder(table, collections.audit(account));
const line = (entity: object) => `${JSON.stringify(entity)}\n`;

/** Creates an account with the operator's command. */
async function createAccount(): Promise<number> {
  const id = newAccountId();
  await admin(`account create ${id} --name Acme --permission monit`);
  return id;
}
/** Issues an app key. @returns its id */
const issueKey = async (id: number) => {
  await admin(`app-key issue --account ${id}`);
  return (JSON.parse((await admin(`app-key list --account ${id} --json`)).out) as { app_key_id: string }[])[0]
    ?.app_key_id;
};

async function incidentAndAlert(account: number) {
  const [incident, alert] = [objectId(), objectId()];
  await put(table, keys.incident(account, incident), { incident_id: incident, title: 't' });
  await put(table, keys.alert(account, alert), { alert_id: alert, title: 't' });
  return [incident, alert] as const;
}

/** For each command that writes: prepares an account, and returns the command line and the target that the audit shows. */
const WRITING: Record<string, (id: number) => Promise<{ args: string; target?: string; options?: AdminOptions }>> = {
  'account create': async (id) => ({ args: `account create ${id} --name Acme`, target: 'gateway key' }),
  'account grant': async (id) => ({ args: `account grant ${id} monit`, target: 'monit' }),
  'account revoke': async (id) => ({ args: `account revoke ${id} monit`, target: 'monit' }),
  'account suspend': async (id) => ({ args: `account suspend ${id}` }),
  'account unsuspend': async (id) => ({ args: `account unsuspend ${id}` }),
  'app-key issue': async (id) => ({ args: `app-key issue --account ${id}`, target: 'key ' }),
  'app-key revoke': async (id) => {
    const key = await issueKey(id);
    return { args: `app-key revoke ${key} --account ${id}`, target: `key ${key}` };
  },
  'app-key rotate': async (id) => {
    const key = await issueKey(id);
    return { args: `app-key rotate ${key} --account ${id}`, target: `key ${key} to key ` };
  },
  import: async (id) => ({
    args: 'import -',
    target: '-',
    options: { stdin: line({ kind: 'member', account_id: id, member_id: 1, name: 'Ada' }) },
  }),
  'host retire': async (id) => {
    await put(table, keys.host(id, 'h'), inventory());
    await put(table, keys.hostStatus(id, 'h'), live({ received_at_ms: 5 }));
    return { args: `host retire --account ${id} --stale-for 30d`, target: '1 host' };
  },
  'gateway-keys create': async () => ({ args: 'gateway-keys create', target: 'gateway key' }),
  'work-item restore': async (id) => {
    const item = { work_item_id: 'w', title: 't', version: 2, deleted_at_ms: 5 };
    await put(table, keys.workItem(id, 'w'), item);
    return { args: `work-item restore w --account ${id}`, target: 'work item w' };
  },
  'rum restore': async (id) => {
    await put(table, keys.rumResource(id), { deleted: true });
    return { args: `rum restore --account ${id}`, target: 'RUM resource' };
  },
  'merge alerts': async (id) => {
    const [incident, alert] = await incidentAndAlert(id);
    return { args: `merge alerts ${incident} ${alert} --account ${id}`, target: `alerts into incident ${incident}` };
  },
  'merge undo': async (id) => {
    const [incident, alert] = await incidentAndAlert(id);
    await admin(`merge alerts ${incident} ${alert} --account ${id}`);
    const [entry] = await storedUnder(table, collections.feed(id, incident));
    return {
      args: `merge undo ${incident} ${entry.sequence} --account ${id}`,
      target: `entry ${entry.sequence} of incident ${incident}`,
    };
  },
  'merge finish': async (id) => {
    const incident = objectId();
    const none = new Uint8Array();
    const entry = { kind: 'merge', incident_id: incident, sequence: 5, large: true, alert_ids: none, other_ids: none };
    await put(table, keys.feedEntry(id, incident, 5), entry);
    await put(table, keys.mergeOrder(id), { last: 5, last_large: 5, pending: { 5: incident } });
    return { args: `merge finish --account ${id}`, target: `entry 5 of incident ${incident}` };
  },
  repair: async (id) => {
    await put(table, keys.mergeOrder(id), { last: 5, pending: { 5: objectId() } });
    return { args: `repair --account ${id} --write`, target: '1 finding' };
  },
};

/** Commands that need API Gateway or the queues of a stack: other files test them. */
const ELSEWHERE = ['gateway-keys remove', 'relay replay'];

it('covers every command that writes', () => {
  const writing = [...commandsWith('--dry-run'), ...commandsWith('--write')];
  expect([...Object.keys(WRITING), ...ELSEWHERE].sort()).toEqual(writing.sort());
});

const { repair: _without, ...WITH_DRY_RUN } = WRITING;
it.each(Object.entries(WITH_DRY_RUN))('%s --dry-run writes nothing', async (_name, prepare) => {
  const { args, options } = await prepare(await createAccount());
  const before = await everythingIn(table);
  const { exitCode, err } = await admin(`${args} --dry-run`, options);
  expect([exitCode, err]).toEqual([0, expect.stringMatching(/^Dry run: nothing is written\.\n./)]);
  expect(JSON.parse((await admin(`${args} --dry-run --json`, options)).out)).toMatchObject({ dry_run: true });
  expect(await everythingIn(table)).toBe(before);
});

describe.each(Object.entries(WRITING))('%s', (name, prepare) => {
  it('leaves an audit row: who, when, which command, on what, and how it ended', async () => {
    const id = await createAccount();
    const { args, target = '', options } = await prepare(id);
    const before = (await rowsOf(id)).length;
    const nowMs = Date.now();
    const { exitCode, err } = await admin(args, options);
    expect(exitCode, err).toBe(0);
    const rows = (await rowsOf(id)).slice(before);
    expect(rows).toMatchObject([{ command: name, result: 'done', by: expect.stringMatching(/^local user ./) }]);
    const [{ target: recorded, at_ms, ttl }] = rows as [AuditEntry & { ttl: number }];
    expect(recorded?.slice(0, target.length)).toBe(target === '' ? undefined : target);
    expect(Math.abs(at_ms - nowMs)).toBeLessThan(60_000);
    expect(Math.abs(ttl - nowMs / 1000 - 400 * 86_400)).toBeLessThan(60);
  });
});

describe('the audit', () => {
  it('is shown since a given time, oldest first, as text and as JSON', async () => {
    const id = await createAccount();
    const daysAgo = (count: number) => ({ now: () => Date.now() - count * 86_400_000 });
    await admin(`account suspend ${id}`, daysAgo(9));
    await admin(`account unsuspend ${id}`, daysAgo(3));
    const { out } = await admin(`audit --account ${id} --since 7d`);
    expect(out).toMatch(/^time +by +command +target +result +detail\n.* account unsuspend +done\n.* account create /);
    expect(out).not.toContain('account suspend');
    const all = JSON.parse((await admin(`audit --account ${id} --since 30d --json`)).out) as AuditEntry[];
    const commands = ['account suspend', 'account unsuspend', 'account create', 'account create'];
    expect(all.map(({ command }) => command)).toEqual(commands);
    const none = `Account ${id} has no audit entries in that time.\n`;
    expect((await admin(`audit --account ${id} --since 0`)).err).toBe(none);
  });

  it('records failed and interrupted commands', async () => {
    const id = await createAccount();
    expect((await admin(`rum restore --account ${id}`)).exitCode).toBe(1);
    expect((await rowsOf(id)).at(-1)).toMatchObject({
      ...{ command: 'rum restore', result: 'failed' },
      detail: `Account ${id} has no deleted RUM resource.`,
    });
    const audit = createAudit(table, 'import', 'ada', now);
    await expect(audit.around([id], 'f', async () => AbortSignal.abort().throwIfAborted())).rejects.toThrow();
    expect((await rowsOf(id)).at(-1)).toMatchObject({ result: 'failed', detail: 'Stopped before it finished.' });
    await audit.around([id], 'f', async () => expect((await rowsOf(id)).at(-1)?.result).toBe('started'));
    expect((await rowsOf(id)).at(-1)?.result).toBe('done');
  });

  /** Suspends an account through a client with this fault. */
  function suspend(id: number, fault: AroundCall) {
    const broken = connectAgain(table);
    aroundCalls(broken, fault);
    return createAudit(broken, 'account suspend', 'ada', now).inTransaction(id, '', (also) =>
      changeAccount(broken, id, () => ({ suspended: true }), also),
    );
  }

  it('is written in the transaction of the change', async () => {
    const id = await createAccount();
    const before = (await rowsOf(id)).length;
    await expect(suspend(id, losing('TransactWriteItems'))).rejects.toThrow('connection lost');
    expect((await stored(table, keys.account(id))).suspended).not.toBe(true);
    expect((await rowsOf(id)).slice(before)).toMatchObject([{ result: 'failed' }]);
  });

  it('records a change as done if only copying it to the keys failed', async () => {
    const id = await createAccount();
    await issueKey(id);
    let lost = false;
    const losingFirstCopy: AroundCall = async ({ command }, send) => {
      await send();
      if (lost || command !== 'UpdateItemCommand') return;
      lost = true;
      throw connectionLost();
    };
    await expect(suspend(id, losingFirstCopy)).rejects.toThrow('connection lost');
    const detail = expect.stringContaining('does not respond');
    expect((await rowsOf(id)).at(-1)).toMatchObject({ result: 'done', detail });
  });

  it('never contains a key', async () => {
    const id = await createAccount();
    const key = (await admin(`app-key issue --account ${id} --note n`)).out.trim();
    const stdin = line({ kind: 'app_key', account_id: id, app_key: `${key}2` });
    await admin('import -', { stdin });
    await admin('import -', { stdin: stdin.replace('"app_key"', '"app_keys"') });
    expect(await rowsOf(id)).toHaveLength(4);
    expect(await everythingIn(table)).not.toContain(key);
  });
});
