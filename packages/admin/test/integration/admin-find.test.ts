import { describe, expect, it } from 'vitest';
import { keys } from '../../../../lib/table/keys.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { handlersOver, newTable, put, testDeps } from '../../../../test/support/service.ts';
import { serveConsole } from '../support/console-pages.ts';
import { runCommand } from '../support/run-admin.ts';

const table = await newTable();
/** The options come first, since after `--` there can be none. */
const admin = (...args: string[]) => runCommand(['--endpoint', dynamodbEndpoint(), '--table', table.name, ...args]);

/** Ids of one account, by kind. Another account has an alert and a host with the same ids. */
async function makeIds() {
  const [tenant, other] = [await newAccount(table), await newAccount(table)];
  const { account } = tenant;
  const incident = await tenant.incident();
  const [alert = ''] = await tenant.alerts(1);
  const merge = { alert_ids: [alert], incident_id: incident };
  const { body } = await tenant.merge(handlersOver(testDeps(table)).mergeAlerts, merge);
  const [host, work_item] = ['fra-1/web é', '-wi 1'];
  for (const id of [account, other.account]) await put(table, keys.host(id, host), { edge_cluster: 'fra-1' });
  await put(table, keys.alert(other.account, alert), { alert_id: alert, title: 't' });
  const item = { work_item_id: work_item, version: 3, title: 'T', deleted_at_ms: 1 };
  await put(table, keys.workItem(account, work_item), item);
  // More items than a console page lists. They sort between `-wi ` and `-wi 1`, so a page that starts after the id
  // without its last character does not contain the item above.
  for (let number = 100; number < 160; number += 1) {
    const id = `-wi 0${number}`;
    await put(table, keys.workItem(account, id), { work_item_id: id, version: 1, title: 'T' });
  }
  await admin('app-key', 'issue', '--account', String(account));
  const [key] = JSON.parse((await admin('app-key', 'list', '--account', String(account), '--json')).out);
  const byKind = { incident, alert, host, work_item, account: String(account) };
  return { byKind: { ...byKind, app_key: String(key.app_key_id), merge: String(body.request_id) }, account, other };
}
const { byKind: ids, account, other } = await makeIds();

const find = async (id: string) => {
  const { out, exitCode } = await admin('find', '--json', '--', id);
  expect(exitCode).toBe(0);
  return JSON.parse(out) as { kind: string; account_id: number; id: string; command: string }[];
};

describe('admin find', () => {
  it.each(Object.entries(ids))('names the account that has the id: %s', async (kind, id) => {
    const found = (await find(id)).filter(({ account_id }) => account_id === account);
    expect(found).toMatchObject([{ kind, id }]);
    // The command that it names shows it.
    const words = (found[0]?.command ?? '')
      .split(' ')
      .map((word) => (word === 'TEXT-QUOTED-FOR-YOUR-SHELL' ? id : word));
    expect(await admin(...words)).toMatchObject({ exitCode: 0, err: '' });
  });

  it('puts no stored text that a shell could interpret into a command to paste, nor does the console', async () => {
    const console = await serveConsole({ table });
    await console.signIn();
    const hostile = "a\\'; touch x; #";
    await put(table, keys.host(account, hostile), { edge_cluster: hostile, agent_version: hostile });
    const command = `show host --account ${account} -- TEXT-QUOTED-FOR-YOUR-SHELL`;
    expect(await find(hostile)).toMatchObject([{ command }]);
    expect((await admin('find', '--', hostile)).out).toContain(`show it  ${command}\n`);
    const id = encodeURIComponent(hostile);
    const query = new URLSearchParams({ cluster: hostile, version: hostile });
    const pages = [
      `/find?id=${id}`,
      `/${account}/host?id=${id}`,
      `/${account}/fleet?${query}`,
      `/${account}/work-items`,
    ];
    const shown = await Promise.all(pages.map(async (path) => (await console.page(path)).text));
    const commands = [...shown.join('').matchAll(/class="copyable"><code>(.*?)<\/code>/g)].map(([, text]) => text);
    expect(commands.length).toBeGreaterThan(3);
    for (const text of commands)
      expect(text).toMatch(/^npm run --silent admin -- [\w@%+=:,./ -]*TEXT-QUOTED-FOR-YOUR-SHELL/);
    await console.close();
  });

  it('names every account that has the id', async () => {
    for (const id of [ids.alert, ids.host])
      expect(new Set((await find(id)).map(({ account_id }) => account_id))).toEqual(new Set([account, other.account]));
  });

  it('takes ObjectIDs and request ids in either case, and the beginning of the id of a key', async () => {
    expect(await find(ids.incident.toUpperCase())).toMatchObject([{ id: ids.incident }]);
    expect(await find(ids.merge.toUpperCase())).toMatchObject([{ kind: 'merge' }]);
    expect(await find(ids.app_key.slice(0, 8))).toMatchObject([{ id: ids.app_key }]);
  });

  it.each(['nothing', '9c29ccd0-8a26-4dba-b194-9e140490c3c1', '64f000000000000000000001'])(
    'fails if nothing has the id: %s',
    async (id) => {
      expect(await admin('find', id)).toEqual({ exitCode: 1, out: '', err: expect.stringContaining(id) });
    },
  );
});

describe('the search box of the console', () => {
  it('is on every page, and leads to a page of results', async () => {
    const console = await serveConsole({ table });
    await console.signIn();
    expect((await console.page('/')).text).toMatch(/<form action="find"[^>]*>.*name="id"/s);
    for (const [kind, id] of Object.entries(ids)) {
      const { text } = await console.page(`/find?id=${encodeURIComponent(id)}`);
      const links = [...text.matchAll(/<th scope="row"><a href="([^"]*)"/g)].map(([, to = '']) => to);
      const ofAccount = links.find((to) => to.startsWith(`${account}/`)) ?? 'no link';
      const { status, text: shown } = await console.page(`/${ofAccount.replaceAll('&amp;', '&')}`);
      expect([kind, status]).toEqual([kind, 200]);
      if (kind === 'work_item') expect(shown).toContain('<th scope="row">-wi 1</th>');
      if (kind === 'host') expect(shown).toMatch(/<h1>.*fra-1\/web é<\/h1>/s);
    }
    expect((await console.page('/find?id=nothing')).text).toContain('Nothing has the id nothing.');
    await console.close();
  });
});
