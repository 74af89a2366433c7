/** Links and commands of all documents, and the examples of docs/feed.md and docs/senders.md. `start`, `runbooks` and `restore-walk` run blocks of commands. */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { keys } from '../../lib/table/keys.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { putAccount } from '../../packages/admin/accounts/accounts.ts';
import { loadData } from '../../packages/admin/data/load.ts';
import { commandNames } from '../../packages/admin/test/support/run-admin.ts';
import { DEMO_KEYS, sampleData } from '../../packages/local/sample.ts';
import { serveTable } from '../../packages/local/test/support/start-service.ts';
import { DOCUMENTS, textOf } from '../support/documents.ts';
import { newTable, putAppKey, stored } from '../support/service.ts';
import notification from './feed-senders/recorded/alertmanager-firing.json' with { type: 'json' };

const documents = [...DOCUMENTS, ...globSync('examples/*/*.yml')];

const anchorsOf = (file: string) =>
  [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
const commands = commandNames.map((words) => words.join(' ')).filter(Boolean);

it.each(documents)(
  '%s has links to files and headings that exist, names commands that exist, and uses no shared folder',
  (path) => {
    const text = textOf(path);
    for (const [link, file = '', anchor] of text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)) {
      const target = file === '' ? path : join(dirname(path), file);
      expect(existsSync(target), link).toBe(true);
      if (anchor) expect(anchorsOf(target), link).toContain(anchor);
    }
    // `-w` names another package.
    for (const [, script = ''] of text.matchAll(/npm run (?:--silent )?([\w:-]+)(?![\w:-]| -w)/g))
      expect(Object.keys(packageJson.scripts)).toContain(script);
    for (const [, command = ''] of text.matchAll(/`admin ((?:[a-z-]+ ?)+)/g))
      expect(command).toSatisfy(() => commands.some((name) => `${command} `.startsWith(`${name} `)));
    // `mktemp -d` makes a private folder in it.
    expect(text.replace(/\/tmp\/tmp\.\w+/g, '')).not.toContain('/tmp');
  },
);

it.each(['SECURITY.md', 'docs/internals/reliability.md'])('every test that %s names exists', (path) => {
  const named = [
    ...textOf(path).matchAll(/`((?:packages\/\S+\/)?(?:unit|integration|infra|faults|schedules)\/[\w/-]+)`/g),
  ];
  expect(named.length).toBeGreaterThan(10);
  for (const [, name = ''] of named) {
    const file = name.startsWith('packages/') ? name : `test/${name}`;
    expect(globSync(`${file}{,.property}.test.ts`), file).toHaveLength(1);
  }
});

const table = await newTable();
const service = await serveTable(table);
afterAll(() => service.stop());

await putAccount(table, { account_id: 1, name: 'Acme', permissions: ['monit', 'feed'] });
await putAppKey(table, { account_id: 1 }, DEMO_KEYS.demo);
/** `.ci/run` sets `PYTHON` to a Python with boto3. Then the example is never skipped. */
const { PYTHON } = process.env;
const hasBoto3 = spawnSync(PYTHON ?? 'python3', ['-c', 'import boto3'], { stdio: 'ignore' }).status === 0;

it.skipIf(PYTHON === undefined && !hasBoto3)('docs/feed.md: the example in Python changes a host', async () => {
  const document = textOf('docs/feed.md');
  const [, settings = ''] = /```sh\n(export AWS_ENDPOINT_URL.*?)```/s.exec(document) ?? [];
  const [, code = ''] = /```python\n(.*?)```/s.exec(document) ?? [];
  const [, hostId = ''] = /"host_id": "(.*?)"/.exec(code) ?? [];
  const nowMs = Date.now();
  const lines = sampleData(nowMs).filter((line) => line.includes(`"host_id":"${hostId}"`));
  expect(lines.map((line) => JSON.parse(line).kind)).toEqual(['host', 'host_status']);
  await loadData(table, 'sample', lines, { nowMs });
  // Nothing but the document says where the queue is.
  const { PATH, HOME } = process.env;
  const script = `${settings.replaceAll('http://127.0.0.1:3000', service.url)}"$@"`;
  await promisify(execFile)('bash', ['-ec', script, 'bash', PYTHON ?? 'python3', '-c', code], { env: { PATH, HOME } });
  await expect.poll(() => stored(table, keys.hostStatus(1, hostId))).toMatchObject({ node_count: 12, edge_count: 18 });
});

it('docs/senders.md: Alertmanager, configured as written, sends to the service of npm start', async () => {
  const [, url = ''] = /url: '(.*?)'/.exec(textOf('docs/senders.md')) ?? [];
  const { headers, body } = notification;
  const answer = await fetch(url.replace('http://127.0.0.1:3000', service.url), { method: 'POST', headers, body });
  expect(await answer.json()).toMatchObject({ data: { accepted: 1 } });
});
