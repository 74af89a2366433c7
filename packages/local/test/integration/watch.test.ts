/** `npm start -- --watch --inspect`, on a copy of the sources that the tests can change. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEMO_KEYS } from '../../../../infra/generate/sample.ts';
import { copyService, root } from '../support/copied-service.ts';
import { start, stopsOn } from '../support/start-service.ts';

const copy = copyService();
const events = join(copy, 'events.ndjson');
let service: Awaited<ReturnType<typeof start>>;
let url: string;
beforeAll(async () => {
  service = await start(
    ['--port', '0', '--watch', '--inspect', '--events', events],
    {
      DYNAMODB_ENDPOINT: undefined,
      NODE_OPTIONS: '--inspect-port=0',
    },
    copy,
  );
  url = /Serving at (\S+)/.exec(service.output())?.[1] ?? '';
});
// All its processes end with it.
afterAll(() => stopsOn('SIGTERM', service));

/** A message that every operation has. */
const FILE = 'lib/http/messages/en.ts';
const sources = readFileSync(join(root, FILE), 'utf8');
const SENTENCE = 'The app_key is missing, invalid or expired.';
/** Replaces the file as an editor does that never leaves half a file. */
function write(text: string): void {
  writeFileSync(join(copy, `${FILE}.new`), text);
  renameSync(join(copy, `${FILE}.new`), join(copy, FILE));
}

async function call(path: string, key: string, body: object = {}) {
  const answer = await fetch(`${url}${path}?app_key=${key}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as { data?: unknown; error?: { code: string; message: string } };
}
/** API Gateway itself would answer a call without a key. While the service restarts nobody answers. */
const message = () =>
  call('/rum/resource/info', 'unknown').then(
    ({ error }) => error?.message,
    () => 'no answer',
  );

it('serves a change of the source at the same address, with the same data', async () => {
  expect(await message()).toContain(SENTENCE);
  for (const times of ['once', 'twice']) {
    write(sources.replace(SENTENCE, `Changed ${times}.`));
    await expect.poll(message).toContain(`Changed ${times}.`);
  }
  expect(service.output().match(/Loaded sample data/g)).toHaveLength(1);
  expect(service.output().match(/already has data/g)?.length).toBeGreaterThanOrEqual(3);
  expect((await call('/rum/resource/info', DEMO_KEYS.demo)).error).toBeUndefined();
});

it('events are written to the file of --events', async () => {
  const body = { alert_ids: ['23a5a8cc741f9d42df78f93f'], incident_id: '40637f096ece1da9c808ecde' };
  expect(await call('/alert/merge', DEMO_KEYS.demo, body)).toMatchObject({ data: null });
  await expect.poll(() => readFileSync(events, 'utf8'), { timeout: 15_000 }).toContain('23a5a8cc741f9d42df78f93f');
});

it('a syntax error is printed with its line, and when it is fixed the service answers', async () => {
  const line = sources.slice(0, sources.indexOf(SENTENCE)).split('\n').length;
  write(sources.replace(`'${SENTENCE}`, `' + (; '${SENTENCE}`));
  await expect.poll(service.errors).toMatch(new RegExp(`${FILE}:${line}\\n[^]*SyntaxError`));
  write(sources);
  await expect.poll(message).toContain(SENTENCE);
});

it('a debugger stops in a function', async () => {
  // That of the last restart.
  const address =
    service
      .errors()
      .match(/ws:\/\/\S+/g)
      ?.at(-1) ?? '';
  const socket = new WebSocket(address);
  const paused = Promise.withResolvers<string>();
  const answers = new Map<number, () => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, method, params } = JSON.parse(String(data));
    answers.get(id)?.();
    if (method === 'Debugger.paused') paused.resolve(params.callFrames[0].functionName);
  });
  await new Promise((resolve) => socket.addEventListener('open', resolve));
  let sent = 0;
  const send = (method: string, params = {}) => {
    sent += 1;
    socket.send(JSON.stringify({ id: sent, method, params }));
    return new Promise<void>((resolve) => answers.set(sent, resolve));
  };
  await send('Debugger.enable');
  const lines = readFileSync(join(root, 'lib/http/caller.ts'), 'utf8').split('\n');
  const lineNumber = lines.findIndex((line) => line.includes("ApiError('Unauthorized')"));
  expect(lineNumber).toBeGreaterThan(0);
  await send('Debugger.setBreakpointByUrl', { urlRegex: '/lib/http/caller\\.ts(#|$)', lineNumber });
  const calling = message();
  expect(await paused.promise).toBe('before');
  await send('Debugger.resume');
  expect(await calling).toContain('app_key');
  socket.close();
});
