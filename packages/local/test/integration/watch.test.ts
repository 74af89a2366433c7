/** `npm start -- --watch --inspect`, on a copy of the sources that the tests can change. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEMO_KEYS } from '../../../../infra/generate/sample.ts';
import { callService, copyService, root, start, stopsOn } from '../support/start-service.ts';

const copy = copyService();
const events = join(copy, 'events.ndjson');
let service: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  service = await start(
    ['--port', '0', '--watch', '--inspect', '--events', events],
    {
      DYNAMODB_ENDPOINT: undefined,
      NODE_OPTIONS: '--inspect-port=0',
    },
    copy,
  );
});
// All its processes end with it.
afterAll(() => stopsOn('SIGTERM', service));

/** The source that is changed; it has `SENTENCE`, a part of a message of every operation. */
const FILE = 'lib/http/messages/en.ts';
const sources = readFileSync(join(root, FILE), 'utf8');
const SENTENCE = 'The app_key is missing, invalid or expired.';
/** Replaces the file by renaming another one, as some editors do. */
function write(text: string): void {
  writeFileSync(join(copy, `${FILE}.new`), text);
  renameSync(join(copy, `${FILE}.new`), join(copy, FILE));
}

/** The message for an unknown key, which a function answers. While the service restarts, nobody answers. */
const message = () =>
  callService(service.url, '/rum/resource/info', 'unknown').then(
    ({ body }) => body.error?.message,
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
  expect((await callService(service.url, '/rum/resource/info', DEMO_KEYS.demo)).status).toBe(200);
});

it('writes events to the file of --events', async () => {
  const body = { alert_ids: ['23a5a8cc741f9d42df78f93f'], incident_id: '40637f096ece1da9c808ecde' };
  expect((await callService(service.url, '/alert/merge', DEMO_KEYS.demo, body)).status).toBe(200);
  await expect.poll(() => readFileSync(events, 'utf8'), { timeout: 15_000 }).toContain('23a5a8cc741f9d42df78f93f');
});

it('prints a syntax error with its line, and answers again once it is fixed', async () => {
  const line = sources.slice(0, sources.indexOf(SENTENCE)).split('\n').length;
  write(sources.replace(`'${SENTENCE}`, `' + (; '${SENTENCE}`));
  await expect.poll(service.errors).toMatch(new RegExp(`${FILE}:${line}\\n[^]*SyntaxError`));
  write(sources);
  await expect.poll(message).toContain(SENTENCE);
});

it('lets a debugger stop in a function', async () => {
  // The debugger's address since the last restart.
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
