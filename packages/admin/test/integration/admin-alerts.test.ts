/** How operators see alerts, in the commands and in the console, and how they end one. */
import { afterAll, describe, expect, it } from 'vitest';
import { keys } from '../../../../lib/table/keys.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { ingestOver } from '../../../../test/support/ingest.ts';
import { newTable, put, stored } from '../../../../test/support/service.ts';
import { alertsOfIncident } from '../../incidents/list.ts';
import { serveConsole, textOf } from '../support/console-pages.ts';
import { type AdminOptions, adminOf } from '../support/run-admin.ts';

const MINUTE_MS = 60_000;
const table = await newTable();
const admin = adminOf(table);
const console = await serveConsole({ table });
await console.signIn();
afterAll(console.close);

/** An account with a sender of alerts. */
async function newSender() {
  const tenant = await newAccount(table);
  const { account } = tenant;
  const ingest = ingestOver(table);
  const run = (args: string, options?: AdminOptions) => admin([...args.split(' '), '--account', `${account}`], options);
  return {
    ...tenant,
    run,
    json: async (args: string, options?: AdminOptions) => JSON.parse((await run(`${args} --json`, options)).out),
    page: async (path: string) => textOf((await console.page(`/${account}/${path}`)).text),
    html: async (path: string) => (await console.page(`/${account}/${path}`)).text,
    /** Sends a record of a key that is some minutes old. */
    async send(alert_key: string, alert_status: string, minutes: number, fields: object = {}) {
      const at_ms = Date.now() - minutes * MINUTE_MS;
      await ingest.send({
        kind: 'alert',
        account_id: account,
        title: `${alert_key}!`,
        alert_key,
        alert_status,
        at_ms,
        ...fields,
      });
      expect(ingest.refused).toEqual([]);
      return String((await stored(table, keys.alertKey(account, alert_key)))?.alert_id);
    },
  };
}

const CONTENT = {
  title: 'Disk 7 is full',
  description: 'It has 3 GB left',
  labels: { instance: 'db-7', team: 'storage' },
  annotations: { note: 'Ask https://a', runbook_url: 'HTTPS://wiki.example.com/disk', script: 'javascript:alert(1)' },
  source_url: 'https://grafana.example.com/d/1',
};

describe('open alerts', async () => {
  const sender = await newSender();
  const incident = await sender.incident({ title: 'Storage' });
  const critical = await sender.send('disk', 'Critical', 30, { ...CONTENT, incident_id: incident });
  const warning = await sender.send('cpu', 'Warning', 5);
  const ended = await sender.send('net', 'Info', 50, { incident_id: incident });
  await sender.send('net', 'Ok', 10);
  await sender.alerts(1, incident);

  it('are listed by the command as the API lists them, the latest start first', async () => {
    const item = {
      alert_key: 'disk',
      alert_severity: 'Critical',
      incident: { incident_id: incident, title: 'Storage' },
    };
    expect(await sender.json('alert list')).toMatchObject([{ alert_id: warning }, { alert_id: critical, ...item }]);
    expect(await sender.json('alert list --severity Critical')).toMatchObject([{ alert_id: critical }]);
    const { out } = await sender.run('alert list');
    const rows = `^alert +status +started +incident +key +labels\n${warning} cpu! +Warning +[-\\d]+ [:\\d]+ UTC +cpu\n${critical} Disk 7 is full +Critical .* ${incident} Storage +disk +instance=db-7; team=storage\n$`;
    expect(out).toMatch(new RegExp(rows));
    expect(await sender.run('alert list --severity Info')).toMatchObject({
      exitCode: 0,
      out: '',
      err: 'No open alert is Info.\n',
    });
  });

  it('are listed by the console with severity, labels, age and incident, and by severity', async () => {
    const row = `Disk 7 is full ${critical} Critical [-:\\d ]+ UTC 30 minutes ago Storage ${incident} disk instance=db-7 team=storage`;
    expect(await sender.page('alerts')).toMatch(
      new RegExp(`Open 1 Critical 1 Warning .*cpu! ${warning} Warning .*5 minutes ago .*${row}`),
    );
    const filtered = await sender.page('alerts?severity=Critical');
    expect(filtered).toMatch(/Open 1 Critical 1 Warning .*alert list --account=\d+ --severity=Critical --table t/);
    expect(filtered).toMatch(new RegExp(`alert status started incident key labels ${row}`));
    expect(filtered).not.toContain('cpu!');
    expect(await sender.html('alerts?severity=Critical')).toMatch(
      /class="chip critical" href="\d+\/alerts" aria-current="true"/,
    );
  });

  it('are listed with those that have ended, by state, by hour and across accounts', async () => {
    expect(await sender.json('alert list --ended')).toMatchObject([{ alert_id: ended, alert_status: 'Ok' }]);
    expect(await sender.json('alert list --ended --since 45m')).toEqual([]);
    expect(await sender.run('alert list --ended --severity Critical')).toMatchObject({ err: 'None is Critical.\n' });
    const shown = await sender.page('alerts?state=ended');
    expect(shown).toMatch(
      /Open Ended last day .*7 days .* Critical Warning Info .*Ended alerts .*net! \w{24} ended .*alert list --account=\d+ --ended --since=1d /,
    );
    expect(shown).not.toContain('cpu!');
    const page = await sender.html('alerts');
    const bars = [...page.matchAll(/<a href="([^"]+)" tabindex="-1"><title>[:\d]+: 1 (\w+)</g)];
    expect(bars.map(([, , severity]) => severity)).toEqual(['Critical', 'Warning', 'Info']);
    const [, address = '', severity] = bars[2] ?? [];
    expect(address).toContain(`severity=${severity}`);
    const hour = await sender.page(address.replace(/^\d+\//, '').replaceAll('&amp;', '&'));
    expect(hour).toMatch(/Alerts that started from [:\d]+ to [:\d]+ UTC .*net! \w{24} ended /);
    // The table says the same.
    const table = textOf(page.slice(page.indexOf('As a table')));
    const counts = [...table.matchAll(/UTC (\d) (\d) (\d)/g)].map((row) => row.slice(1).map(Number));
    expect([0, 1, 2].map((column) => counts.reduce((sum, row) => sum + Number(row[column]), 0))).toEqual([1, 1, 1]);
    const empty = await newSender();
    expect(await empty.page('alerts')).toContain('No alert has started in the last day.');
    const alone = await empty.send('alone', 'Ok', 5);
    expect(await empty.html('alerts')).toMatch(/<a href="\d+\/alerts\?hour=\d+" tabindex="-1"><title>[:\d]+: 1 None</);

    const all = JSON.parse((await admin('alert list --ended --json')).out);
    expect(all.map(({ alert_id }: { alert_id: string }) => alert_id)).toEqual([alone, ended]);
    expect((await admin('alert list --ended')).out).toMatch(
      new RegExp(`^account +alert .*\n${empty.account} +${alone}`),
    );
    const { open_alerts } = JSON.parse((await admin('status --json')).out);
    expect(open_alerts).toEqual({ Critical: 1, Warning: 1, Info: 0 });
    expect(textOf((await console.page('/')).text)).toMatch(
      new RegExp(
        `Open alerts 2 1 Critical, 1 Warning .* Open alerts account Critical Warning Info ${sender.account} 1 1 0 `,
      ),
    );
  });

  it.each(['--since 1d', '--ended --since 32d', '--ended --since 0'])('are not listed with %s', async (options) => {
    const { exitCode, err } = await sender.run(`alert list ${options}`);
    expect([exitCode, err]).toEqual([
      2,
      expect.stringMatching(/--since (requires --ended|must be longer than 0 and at most 31d)\./),
    ]);
  });

  it('show when their incident was created, and last changed', async () => {
    // The highest id is listed first.
    const incident_id = 'f'.repeat(24);
    const at = (at_ms: number, title: string) => ({
      kind: 'incident',
      account_id: sender.account,
      incident_id,
      title,
      at_ms,
    });
    const [created, changed] = [Date.now() - 3 * 3_600_000, Date.now() - 2 * 3_600_000];
    await ingestOver(table).send(at(created, 'A'), at(changed, 'B'));
    expect(await sender.page(`incident/${incident_id}`)).toMatch(/created .*3 hours ago last changed .*2 hours ago/);
    expect(await sender.page('incidents')).toMatch(/incident changed alerts merges B f{24} .*2 hours ago 0 0 /);
    expect(await sender.json('show incidents')).toContainEqual(
      expect.objectContaining({ incident_id, created_ms: created, changed_ms: changed }),
    );
  });

  it('are on the page of their incident, with those that have ended or have no key', async () => {
    const shown = await sender.page(`incident/${incident}`);
    expect(shown).toMatch(
      /Alerts 3 alerts, 1 open alert status started ended key labels Disk 7 is full \w{24} Critical .*30 minutes ago disk .*net! \w{24} ended .* Alert \w{24} \w{24} Merges/,
    );
    expect(await alertsOfIncident(table, sender.account, incident, 4)).toHaveLength(3);
    expect(await alertsOfIncident(table, sender.account, incident, 3)).toBeUndefined();
    const empty = await sender.incident();
    expect(await sender.page(`incident/${empty}`)).toContain('No alert is in this incident.');
  });

  it('have a page and a command that show their state, content and incident', async () => {
    const page = await sender.page(`alert/${critical}`);
    const facts = `status Critical alert id ${critical} Copy alert key disk Copy .*description It has 3 GB left source url ${CONTENT.source_url} start time .* 30 minutes ago .*incident Storage ${incident} .*last time .* close .*alert close ${critical} --account \\d+ --table t`;
    expect(page).toMatch(new RegExp(facts));
    expect(page).toMatch(
      /Labels instance db-7 team storage Annotations note Ask https:\/\/a runbook_url HTTPS:\S+ script /,
    );
    const html = await sender.html(`alert/${critical}`);
    for (const url of [CONTENT.source_url, CONTENT.annotations.runbook_url])
      expect(html).toContain(`<a href="${url}">`);
    expect(html).not.toMatch(/<a href="(javascript|Ask)/);
    expect(await sender.page(`alert/${ended}`)).toMatch(
      /^(?!.*alert close).*status ended .*end time [:\d]+ UTC 10 minutes ago .*alert severity Info /,
    );
    for (const name of ['disk', critical, critical.toUpperCase()])
      expect(await sender.json(`alert show ${name}`)).toMatchObject({ alert_id: critical, ...CONTENT, end_time: 0 });
    const { out } = await sender.run('alert show disk');
    expect(out).toMatch(/runbook_url=HTTPS:/);
    expect(out).toMatch(/start time +[-\d]+ [:\d]+ UTC\n.*end time +open\n.*incident +\w{24} Storage\n/s);
  });

  it('are found by their key, in all accounts', async () => {
    const other = await newSender();
    await other.send('disk', 'Critical', 9, { title: 'first' });
    await other.send('disk', 'Ok', 8, { title: 'first' });
    await other.send('disk', 'Critical', 7, { title: 'second' });
    await other.send('disk', 'Ok', 6, { title: 'second' });
    await other.send('disk', 'Info', 5);
    const last = await other.send('disk', 'Ok', 1);
    const found: { account_id: number }[] = JSON.parse((await admin('find disk --json')).out);
    const ofAccount = (account: number) => found.filter(({ account_id }) => account_id === account);
    const what = { kind: 'alert', id: 'disk' };
    expect(ofAccount(sender.account)).toMatchObject([
      {
        ...what,
        detail: expect.stringMatching(`^"Disk 7 is full"; Critical since [-:\\d ]+ UTC, in incident ${incident}$`),
      },
    ]);
    const detail = (title: string) =>
      expect.stringMatching(`^"${title}"; ended, started [-:\\d ]+ UTC, in no incident$`);
    expect(ofAccount(other.account)).toMatchObject([
      { ...what, detail: detail('disk!') },
      { ...what, detail: detail('second') },
      { ...what, detail: detail('first') },
    ]);
    const results = (await console.page('/find?id=disk')).text;
    for (const [{ account }, id] of [
      [sender, critical],
      [other, last],
    ] as const)
      expect(results).toContain(`<a href="${account}/alert/${id}">disk</a>`);
  });

  it('are listed in pages', async () => {
    const many = await newSender();
    await Promise.all(Array.from({ length: 130 }, (_, index) => many.send(`k${index}`, 'Info', index + 1)));
    const titles = Array.from({ length: 130 }, (_, index) => `k${index}!`);
    expect((await many.json('alert list')).map(({ title }: { title: string }) => title)).toEqual(titles);
    const seen: string[] = [];
    for (let path: string | undefined = 'alerts'; path; ) {
      const text = await many.html(path);
      seen.push(...[...text.matchAll(/>(k\d+!)</g)].map(([, title = '']) => title));
      path = /href="\d+\/([^"]*)">Next alerts/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen).toEqual(titles);
  });
});

describe('alert close', () => {
  it('ends an alert as a record does, with its content, and is audited; the sender may open another', async () => {
    const sender = await newSender();
    const id = await sender.send('disk', 'Critical', 3, CONTENT);
    expect((await sender.run('alert close disk')).out).toBe(`Alert ${id} closed.\n`);
    expect(await sender.json('alert show disk')).toMatchObject({ alert_id: id, alert_status: 'Ok', ...CONTENT });
    expect(await sender.json('alert list')).toEqual([]);
    expect(await sender.json('audit')).toMatchObject([
      { command: 'alert close', target: `alert ${id}`, result: 'done' },
    ]);
    const row = await stored(table, keys.alert(sender.account, id));
    expect(row).toMatchObject({ event: 'AlertResolved', ended_at_ms: expect.any(Number) });
    expect(await sender.json('alert close disk')).toMatchObject({ alert_id: id, closed: false });
    expect(await sender.send('disk', 'Critical', -1)).not.toBe(id);
  });

  it.each([-60, 60])('is right although its clock is %d minutes off', async (minutes) => {
    const sender = await newSender();
    await sender.send('disk', 'Critical', 1);
    const now = () => Date.now() + minutes * MINUTE_MS;
    expect((await sender.run('alert close disk', { now })).exitCode).toBe(0);
    const [{ end_time }] = [await sender.json('alert show disk')];
    expect(Math.abs(end_time * 1_000 - Date.now())).toBeLessThan(MINUTE_MS);
  });

  it('leaves an alert open whose record is later, and says so', async () => {
    const sender = await newSender();
    const id = await sender.send('disk', 'Critical', -4);
    const detail = `Alert ${id} stays open: it has a later record.`;
    expect(await sender.run('alert close disk')).toEqual({ exitCode: 1, out: '', err: `${detail}\n` });
    expect(await sender.json('alert list')).toMatchObject([{ alert_id: id }]);
    expect(await sender.json('audit')).toMatchObject([{ result: 'failed', detail }]);
  });

  it('ends all that its options choose, and with --dry-run says which', async () => {
    const sender = await newSender();
    const hourAgo = ingestOver(table, () => Date.now() - 60 * MINUTE_MS);
    const [eu, us] = [{ cluster: 'eu', team: 'a' }, { cluster: 'us' }];
    for (const [alert_key, labels] of [
      ['p a', eu],
      ['p b', eu],
      ['p us', us],
      ['other', eu],
    ])
      await hourAgo.send({ kind: 'alert', account_id: sender.account, alert_key, title: 't', labels });
    await sender.send('p b', 'Critical', 0, { labels: eu });
    const chosen = (await stored(table, keys.alertKey(sender.account, 'p a'))).alert_id;
    const close = (...options: string[]) => admin(['alert', 'close', '--account', `${sender.account}`, ...options]);
    const filter = ['--label', 'cluster=eu', '--label', 'team=a', '--key-prefix', 'p ', '--not-since', '30m'];
    const dry = await close(...filter, '--dry-run');
    const said = 'Dry run: nothing is written.\n1 alert would be closed.\n';
    expect(dry).toMatchObject({ exitCode: 0, out: `${chosen} p a\n`, err: said });
    expect(await sender.json('alert list')).toHaveLength(4);
    expect((await close(...filter)).out).toBe(`${chosen} p a\n1 alert closed.\n`);
    expect(await close(...filter)).toMatchObject({ exitCode: 0, out: '0 alerts closed.\n' });
    expect(await sender.json('audit')).toMatchObject([{ command: 'alert close', target: '1 alert', result: 'done' }]);
    const keysOf = async () =>
      (await sender.json('alert list')).map(({ alert_key }: { alert_key: string }) => alert_key);
    expect((await keysOf()).sort()).toEqual(['other', 'p b', 'p us']);
    await sender.send('p us', 'Critical', -4);
    for (let index = 0; index < 20; index += 1) await sender.send(`p ${index}`, 'Info', 0);
    const { exitCode, out, err } = await close('--key-prefix', 'p ');
    // However many are closed, those that stay open are named.
    expect(out).toMatch(/^\w{24} p us \(stays open\)\n(\w{24} p \d+\n){19}and 2 other alerts\n$/);
    const detail = '21 alerts closed. Later records keep 1 open.';
    expect([exitCode, err]).toEqual([1, `${detail}\n`]);
    const [{ alert_id }] = await sender.json('alert list --severity Critical');
    expect(JSON.parse((await close('--key-prefix', 'p ', '--json')).out)).toMatchObject({ stay_open: [alert_id] });
    expect((await sender.json('audit')).at(1)).toMatchObject({ target: '22 alerts', result: 'failed', detail });
    for (let index = 0; index < 21; index += 1) await sender.send(`p ${index}`, 'Info', -4);
    expect((await close('--key-prefix', 'p ')).out).toMatch(/^(\w{24} p \w+ \(stays open\)\n){22}$/);
    for (let index = 0; index < 21; index += 1) await sender.send(`p ${index}`, 'Ok', -4.5);
    expect((await keysOf()).sort()).toEqual(['other', 'p us']);
  });

  it.each([[[]], [['disk', '--label', 'a=b']], [['--label', 'a']], [['--label', '=a']]])(
    'refuses %j, which chooses none or in two ways',
    async (given) => {
      const { account } = await newSender();
      const { exitCode, err } = await admin(['alert', 'close', ...given, '--account', `${account}`]);
      expect([exitCode, err]).toEqual([2, expect.stringMatching(/Pass an alert, or --label|It must be a label/)]);
    },
  );

  it('refuses an alert without a key, and one that there is not', async () => {
    const sender = await newSender();
    const id = 'b'.repeat(24);
    await put(table, keys.alert(sender.account, id), { alert_id: id, title: 't' });
    expect(await sender.run(`alert close ${id}`)).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('has no key'),
    });
    for (const name of ['disk', 'a'.repeat(24), 'x'.repeat(2_000)])
      expect(await sender.run(`alert close ${name}`)).toMatchObject({
        exitCode: 1,
        err: expect.stringContaining(`no alert ${name}`),
      });
  });
});
