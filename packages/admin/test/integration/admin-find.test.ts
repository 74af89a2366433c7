import { beforeAll, describe, expect, it } from 'vitest';
import type { Table } from '../../../../lib/dynamodb/client.ts';
import { keys } from '../../../../lib/dynamodb/keys.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { handlersOver, newTable, put, testDeps } from '../../../../test/support/service.ts';
import { serveConsole } from '../support/console-pages.ts';
import { runCommand } from '../support/run-admin.ts';

let table: Table;
/** The options come first, since after `--` there can be none. */
const admin = (...args: string[]) => runCommand(['--endpoint', dynamodbEndpoint(), '--table', table.name, ...args]);
let tenant: Awaited<ReturnType<typeof newAccount>>;
/** Ids of one account, by kind. Another account has an alert and a host with the same ids. */
const ids: Record<string, string> = {};
beforeAll(async () => {
  table = await newTable();
  const other = await newAccount(table);
  tenant = await newAccount(table);
  const { account } = tenant;
  const incident = await tenant.incident();
  const [alert = ''] = await tenant.alerts(1);
  const { body } = await tenant.merge(handlersOver(testDeps(table)).mergeAlerts, {
    alert_ids: [alert],
    incident_id: incident,
  });
  const host = { host_id: 'fra-1/web é', edge_cluster: 'fra-1' };
  for (const id of [account, other.account]) await put(table, keys.host(id, host.host_id), host);
  await put(table, keys.alert(other.account, alert), { alert_id: alert, title: 't' });
  await put(table, keys.workItem(account, '-wi 1'), {
    work_item_id: '-wi 1',
    version: 3,
    title: 'T',
    deleted_at_ms: 1,
  });
  // More than a page of the console before it, from the id without its last character on.
  for (let number = 100; number < 160; number += 1)
    await put(table, keys.workItem(account, `-wi 0${number}`), {
      work_item_id: `-wi 0${number}`,
      version: 1,
      title: 'T',
    });
  await admin('app-key', 'issue', '--account', String(account));
  const [key] = JSON.parse((await admin('app-key', 'list', '--account', String(account), '--json')).out);
  Object.assign(ids, { incident, alert, host: host.host_id, work_item: '-wi 1', account: String(account) });
  Object.assign(ids, { merge: body.request_id, app_key: key.app_key_id, other: String(other.account) });
});

const find = async (id: string) => {
  const { out, exitCode } = await admin('find', '--json', '--', id);
  expect(exitCode).toBe(0);
  return JSON.parse(out) as { kind: string; account_id: number; id: string; command: string }[];
};

describe('admin find', () => {
  it.each(['incident', 'alert', 'host', 'work_item', 'app_key', 'account', 'merge'])(
    'names the account that has an id: %s',
    async (kind) => {
      const id = ids[kind] as string;
      const found = (await find(id)).filter(({ account_id }) => account_id === tenant.account);
      expect(found).toMatchObject([{ kind, id }]);
      // The command that it names shows it.
      const words = [...(found[0]?.command ?? '').matchAll(/'([^']*)'|(\S+)/g)];
      const { exitCode, err } = await admin(...words.map(([, quoted, bare]) => quoted ?? bare ?? ''));
      expect([exitCode, err]).toEqual([0, '']);
    },
  );

  it('names every account that has the id', async () => {
    for (const id of [ids.alert, ids.host])
      expect((await find(id as string)).map(({ account_id }) => String(account_id)).sort()).toEqual(
        [ids.account, ids.other].sort(),
      );
  });

  it('takes ObjectIDs and request ids in either case, and the beginning of the id of a key', async () => {
    expect(await find((ids.incident as string).toUpperCase())).toMatchObject([{ id: ids.incident }]);
    expect(await find((ids.merge as string).toUpperCase())).toMatchObject([{ kind: 'merge' }]);
    expect(await find((ids.app_key as string).slice(0, 8))).toMatchObject([{ id: ids.app_key }]);
  });

  it.each(['nothing', '9c29ccd0-8a26-4dba-b194-9e140490c3c1', '64f000000000000000000001'])(
    'fails if nothing has the id: %s',
    async (id) => {
      const { exitCode, err } = await admin('find', id);
      expect([exitCode, err]).toEqual([1, expect.stringContaining(id)]);
    },
  );
});

describe('the search box of the console', () => {
  it('is on every page, and leads to a page of results', async () => {
    const console = await serveConsole({ table });
    await console.enter();
    expect((await console.page('/')).text).toMatch(/<form action="find"[^>]*>.*name="id"/s);
    for (const kind of ['incident', 'alert', 'host', 'work_item', 'app_key', 'account', 'merge']) {
      const { text } = await console.page(`/find?id=${encodeURIComponent(ids[kind] as string)}`);
      const links = [...text.matchAll(/<th scope="row"><a href="([^"]*)"/g)].map(([, to = '']) => to);
      const own = links.find((to) => to.startsWith(`${ids.account}/`)) ?? 'no link';
      const { status, text: shown } = await console.page(`/${own.replaceAll('&amp;', '&')}`);
      expect([kind, status]).toEqual([kind, 200]);
      if (kind === 'work_item') expect(shown).toContain('<th scope="row">-wi 1</th>');
      if (kind === 'host') expect(shown).toMatch(/<h1>.*fra-1\/web é<\/h1>/s);
    }
    expect((await console.page('/find?id=nothing')).text).toContain('Nothing has the id nothing.');
    await console.close();
  });
});
