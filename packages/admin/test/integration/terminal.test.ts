/** Stored text cannot control an operator's terminal, and cannot look like a line of output. */
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { keys } from '../../../../lib/table/keys.ts';
import { expectEnvelope } from '../../../../test/support/answers.ts';
import { inventory, live } from '../../../../test/support/fleet.ts';
import { newAccount, objectId } from '../../../../test/support/incidents.ts';
import { handlersOver, newAppKey, newTable, put, stored, testDeps } from '../../../../test/support/service.ts';
import { putAccount } from '../../accounts/accounts.ts';
import { identityOfAppKey, putAppKey } from '../../accounts/app-key-admin.ts';
import { linesOf } from '../../data/lines.ts';
import { adminOf } from '../support/run-admin.ts';

/** A line break with a forged line, a window title, an 8-bit CSI, a bidirectional override and a line separator. */
const HOSTILE = 'disk\n  000000000000001  merge by operator\u001b]0;owned\u0007\u009b2J\u202etxt\u2028\r\u007f';
const HARMLESS = 'disk';
// biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be printed
const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

const table = await newTable();
const admin = adminOf(table);

/** An account in which every stored text is the given one. */
async function accountOf(text: string) {
  const tenant = await newAccount(table);
  const [incident, alert] = [objectId(), objectId()];
  const row = await putAccount(table, { account_id: tenant.account, name: text, permissions: [text, 'monit'] });
  await putAppKey(table, row, { ...identityOfAppKey(newAppKey()), lastDigits: text }, { created_at: 1, note: text });
  await put(table, keys.incident(tenant.account, incident), { incident_id: incident, title: text });
  await put(table, keys.alert(tenant.account, alert), { alert_id: alert, title: text });
  const item = { work_item_id: 'w', version: 1, title: text, [text]: text, more: { [text]: [text] } };
  await put(table, keys.workItem(tenant.account, 'w'), item);
  const host = inventory({ edge_cluster: text, agent_version: text });
  for (const id of ['h', text]) await put(table, keys.host(tenant.account, id), { ...host, reason_codes: [text] });
  const status = live({ received_at_ms: Date.now(), snapshot_truncated: true });
  await put(table, keys.hostStatus(tenant.account, 'h'), {
    ...status,
    reason_codes: [text],
    observed_at_ms: 2n ** 60n,
  });
  const { mergeAlerts: merge } = handlersOver(testDeps(table));
  const body = { alert_ids: [alert], incident_id: incident, comment: text, title: `${text} 2` };
  expectEnvelope(await tenant.merge(merge, body), 200);
  await put(table, keys.mergeOrder(tenant.account), { last: 5, last_large: 5, pending: { 5: text } });
  return { account: tenant.account, incident, alert, text };
}

const hostile = await accountOf(HOSTILE);
const harmless = await accountOf(HARMLESS);
type Filled = typeof hostile;

const COMMANDS: Record<string, (filled: Filled) => string | string[]> = {
  'account show': ({ account }) => `account show ${account}`,
  'account list': () => 'account list',
  'account grant': ({ account }) => `account grant ${account} monit`,
  'account create, which exists': ({ account }) => `account create ${account} --name other`,
  'app-key list': ({ account }) => `app-key list --account ${account}`,
  'show incident': ({ account, incident }) => `show incident ${incident} --account ${account}`,
  'show alert': ({ account, alert }) => `show alert ${alert} --account ${account}`,
  'show work-item': ({ account }) => `show work-item w --account ${account}`,
  'show host': ({ account }) => `show host h --account ${account}`,
  'show fleet': ({ account }) => `show fleet --account ${account}`,
  'host list': ({ account }) => `host list --account ${account}`,
  'find, a host': ({ text }) => ['find', text],
  'find, an incident': ({ incident }) => `find ${incident}`,
  'find, an alert': ({ alert }) => `find ${alert}`,
  'find, a work item': () => 'find w',
  check: ({ account }) => `check --account ${account}`,
};

/** The commands whose JSON contains the text. */
const { check: _check, 'account grant': _grant, 'account create, which exists': _create, ...WITH_TEXT } = COMMANDS;

const printedBy = async (command: string | string[]) => {
  const { out, err } = await admin(command);
  return out + err;
};

it.each(Object.entries(COMMANDS))(
  '%s prints stored text in as many lines as harmless text, with its control characters escaped',
  async (_name, commandOf) => {
    const printed = await printedBy(commandOf(hostile));
    expect(printed).not.toMatch(UNSAFE);
    expect(printed).toContain(
      'disk\\n  000000000000001  merge by operator\\u001b]0;owned\\u0007\\u009b2J\\u202etxt\\u2028',
    );
    expect(printed.split('\n').length).toBe((await printedBy(commandOf(harmless))).split('\n').length);
  },
);

it.each(Object.entries(WITH_TEXT))(
  '%s prints JSON that is exact and has no control characters',
  async (_name, commandOf) => {
    const printed = await printedBy([
      ...[commandOf(hostile)].flatMap((command) => (typeof command === 'string' ? command.split(' ') : command)),
      '--json',
    ]);
    expect(printed).not.toMatch(UNSAFE);
    expect(printed).not.toContain('\n  0000');
    const texts: string[] = [];
    JSON.parse(printed, (key, value) => void texts.push(key, String(value)));
    expect(texts).toContainEqual(expect.stringContaining(HOSTILE));
  },
);

it('an export is exact and has no control characters', async () => {
  await put(table, keys.mergeOrder(hostile.account), { last: 5 });
  const { out } = await admin(`export --account ${hostile.account}`);
  expect(out).not.toMatch(UNSAFE);
  const exported = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(exported.filter(({ title }) => title === HOSTILE).map(({ kind }) => kind)).toEqual(['work_item', 'alert']);
});

it('an edge cluster can have any name, even __proto__', async () => {
  const { account } = await newAccount(table);
  await put(table, keys.host(account, 'h'), { ...inventory(), edge_cluster: '__proto__' });
  expect((await admin(`show fleet --account ${account}`)).out).toMatch(/^__proto__ /m);
  expect(({} as Record<string, unknown>).active).toBeUndefined();
});

it('an import accepts text with control characters, but only in UTF-8', async () => {
  const { account } = harmless;
  const member = { kind: 'member', account_id: account, member_id: 5, name: HOSTILE };
  expect((await admin('import -', { stdin: `${JSON.stringify(member)}\n` })).exitCode).toBe(0);
  expect((await stored(table, keys.member(account, 5))).name).toBe(HOSTILE);
  const latin = Readable.from([Buffer.from('{"kind":"member","name":"\u00fc"}\n', 'latin1')]);
  expect(await Array.fromAsync(linesOf(latin))).toEqual([undefined]);
});

it('a file with control characters in a field name is refused with one line for each problem', async () => {
  const field = JSON.stringify(HOSTILE);
  const stdin = `{"kind":"member","account_id":1,"member_id":1,"name":"n",${field}:1}\n`;
  const { err } = await admin('import -', { stdin });
  expect(err).not.toMatch(UNSAFE);
  expect(err.trimEnd().split('\n')[0]).toContain('is not a field of this kind');
});
