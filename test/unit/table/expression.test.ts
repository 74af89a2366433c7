import { expect, it } from 'vitest';
import { expressionsOf, isAsRead, set } from '../../../lib/table/expression.ts';

it('an attribute that was absent when read must still be absent, in a row that exists', () => {
  const read: { title: string; owner?: number } = { title: 't' };
  expect(expressionsOf({ ConditionExpression: isAsRead(read, ['title', 'owner']) })).toMatchObject({
    ConditionExpression: 'attribute_exists(pk) AND #title = :0 AND attribute_not_exists(#owner)',
  });
});

it.each([
  [set({ a: 1, b: undefined, c: 2, d: undefined }), 'SET #a = :0, #c = :1 REMOVE #b, #d'],
  [set({ a: undefined }), 'REMOVE #a'],
  [set({ a: 1 }, { b: 2, c: undefined }), 'SET #a = :0, #b = if_not_exists(#b, :1)'],
])(
  'an update sets attributes, removes undefined ones, and sets initial values only where there is none: %#',
  (update, text) => {
    expect(expressionsOf({ UpdateExpression: update }).UpdateExpression).toBe(text);
  },
);
