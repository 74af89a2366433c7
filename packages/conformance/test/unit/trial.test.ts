import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openLab } from '../../src/deployment.ts';
import { createTrial } from '../../src/trial.ts';

it.each<[string, RequestListener]>([
  ['no answer', () => {}],
  ['an answer that stops', (_request, response) => response.writeHead(200).write('{"request_id":')],
])('a call ends when it gets %s', async (_what, listener) => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const trial = createTrial(await openLab(url, undefined, { APP_KEY: 'k' }), new Map(), 200);
  await expect(trial.call('/rum/resource/info')).rejects.toThrow(`No answer from ${url}: check --url.`);
  await expect(trial.fetch('/openapi.json').then((response) => response.text())).rejects.toThrow(/timeout/);
});
