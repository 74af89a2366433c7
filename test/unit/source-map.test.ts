import { expect, it } from 'vitest';
import { inRepository } from '../../lib/shared/source-map.ts';

it.each([
  ['../../../home/me/service/lib/table/client.ts', 'lib/table/client.ts'],
  ['../../../srv/lib/infra/lib/table/client.ts', 'lib/table/client.ts'],
  ['../../mylib/functions/merge-alerts.ts', 'functions/merge-alerts.ts'],
  ['lib/log.ts', 'lib/log.ts'],
  ['../lib/node_modules/@aws-sdk/lib-dynamodb/lib/x.js', 'node_modules/@aws-sdk/lib-dynamodb/lib/x.js'],
])('the frame of %s names %s', (source, name) => {
  expect(inRepository(source)).toBe(name);
});
