/** `npm start -- --watch --inspect`, on a copy of the sources that the tests can change. */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { operations } from '../../../../lib/http/operations.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { copyService, root } from '../support/copied-service.ts';
import { start } from '../support/start-service.ts';

const copy = copyService();
let service: Awaited<ReturnType<typeof start>>;
let url: string;
beforeAll(async () => {
  const env = { DYNAMODB_ENDPOINT: dynamodbEndpoint(), NODE_OPTIONS: '--inspect-port=0' };
  service = await start(['--port', '0', '--watch', '--inspect'], env, copy);
  url = /Serving at (\S+)/.exec(service.output())?.[1] ?? '';
});
afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.ended;
  rmSync(copy, { recursive: true, force: true });
});

/** A message that every operation has. */
const FILE = 'lib/http/messages/en.ts';
const sources = readFileSync(join(root, FILE), 'utf8');
const SENTENCE = 'The app_key is missing, invalid or expired.';
const write = (text: string) => writeFileSync(join(copy, FILE), text);
/** API Gateway itself would answer a call without a key. */
async function messageOf(path: string): Promise<string> {
  const answer = await fetch(`${url}${path}?app_key=unknown`, { method: 'POST' });
  // On a busy machine DynamoDB Local may be slower than a call waits.
  if (answer.status === 503) return messageOf(path);
  return ((await answer.json()) as { error: { message: string } }).error.message;
}
/** Waits until the service has printed this since the last look. */
let looked = 0;
async function printed(pattern: RegExp): Promise<string> {
  await expect.poll(() => service.output().slice(looked)).toMatch(pattern);
  const text = service.output().slice(looked);
  looked = service.output().length;
  return text;
}

it('what is changed is live at the next call, for a function that was called and for one that was not', async () => {
  expect(await messageOf('/rum/resource/info')).toContain(SENTENCE);
  for (const times of ['once', 'twice']) {
    write(sources.replace(SENTENCE, `Changed ${times}.`));
    await printed(/Reloaded in \d+ ms: lib\/http\/messages\/en\.ts\n/);
    for (const { path } of operations) expect(await messageOf(path)).toContain(`Changed ${times}.`);
  }
});

it('a change of one file leaves what others have become', async () => {
  const changes = [
    () => write(sources.replace(SENTENCE, 'First.')),
    () => appendFileSync(join(copy, 'lib/operations/get-rum-resource/resource.ts'), '// changed\n'),
    () => appendFileSync(join(copy, 'functions/merge-alerts.ts'), '// changed\n'),
  ];
  for (const change of changes) {
    change();
    await printed(/Reloaded/);
    for (const { path } of operations) expect(await messageOf(path)).toContain('First.');
  }
  write(sources.replace(SENTENCE, 'Second.'));
  await printed(/Reloaded/);
  for (const { path } of operations) expect(await messageOf(path)).toContain('Second.');
});

it('a syntax error is printed with its line, and the previous code answers until it is fixed', async () => {
  write(sources.replace(SENTENCE, 'Before.'));
  await printed(/Reloaded/);
  const line = sources.slice(0, sources.indexOf(SENTENCE)).split('\n').length;
  write(sources.replace(`'${SENTENCE}`, `' + (; '${SENTENCE}`));
  expect(await printed(/Reload failed, .*SyntaxError.*\n/s)).toContain(
    `the previous code still answers: ${FILE}:${line}\n`,
  );
  expect(await messageOf('/rum/resource/info')).toContain('Before.');
  write(sources);
  await printed(/Reloaded/);
  // Some functions were loaded more often than others, and none has modules of an earlier time.
  write(sources.replace(SENTENCE, 'After.'));
  await printed(/Reloaded/);
  for (const { path } of operations) expect(await messageOf(path)).toContain('After.');
});

it('a debugger stops in a function', async () => {
  const [address = ''] = /ws:\/\/\S+/.exec(service.errors()) ?? [];
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
  const calling = messageOf('/rum/resource/info');
  expect(await paused.promise).toBe('before');
  await send('Debugger.resume');
  expect(await calling).toContain('app_key');
  socket.close();
});
