import { expect, inject, it } from 'vitest';
import { listen } from '../../../../test/support/listen.ts';
import { readDeployment } from '../../deployment.ts';
import { docsPage, exactJson } from '../../docs.ts';
import { createGateway } from '../../gateway.ts';

it('the gateway reports the name and the error of a function that fails', async () => {
  const failures: string[] = [];
  const gateway = createGateway({
    deployment: readDeployment(inject('template'), 'table'),
    invoke: () => Promise.reject(new Error('no such table')),
    onFailed: (name, { message }) => failures.push(`${name}: ${message}`),
  });
  const port = await listen(gateway);
  expect((await fetch(`http://127.0.0.1:${port}/openapi.json`)).status).toBe(503);
  expect(failures).toEqual(['openapi-document: no such table']);
  gateway.closeAllConnections();
  gateway.close();
});

it('the reference page shows the numbers of an answer as they were sent', () => {
  const text = '{"id":9223372036854775807,"n":[1.0,1e3],"s":"a\\u0041"}';
  expect(exactJson(text)).toBe('{\n  "id": 9223372036854775807,\n  "n": [\n    1.0,\n    1e3\n  ],\n  "s": "aA"\n}');
  for (const notJson of ['no JSON', undefined, { size: 3 }]) expect(exactJson(notJson as string)).toBeUndefined();
  const page = docsPage('k', 'n');
  // The copy in the page works without this module, so the function uses nothing outside itself.
  const source = page.slice(page.indexOf('function exactJson'), page.indexOf('// Swagger UI parses'));
  expect(new Function(`${source}; return exactJson('[9007199254740993]')`)()).toBe('[\n  9007199254740993\n]');
  expect(page).toContain('plugins: [showExactly]');
});
