import { createServer, type RequestListener } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../../test/support/listen.ts';
import { createApiClient, RUM } from '../../src/api-client.ts';
import { deployedEnvironment } from '../../src/environment.ts';

it.each<[string, RequestListener]>([
  ['no answer', () => {}],
  ['an answer that stops', (_request, response) => response.writeHead(200).write('{"request_id":')],
])('a call ends when it gets %s', async (_what, listener) => {
  const server = createServer(listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  const environment = await deployedEnvironment(url, undefined, { APP_KEY: 'k' });
  const api = createApiClient(environment, new Map(), 200);
  await expect(api.call(RUM)).rejects.toThrow(`No answer from ${url}: check --url.`);
  expect(api.calls).toEqual([`POST ${RUM} {} → no answer`]);
});
