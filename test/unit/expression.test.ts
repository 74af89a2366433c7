import { expect, it } from 'vitest';
import {
  all,
  attribute,
  expression,
  expressionsOf,
  is,
  isAsRead,
  isBelow,
  set,
} from '../../lib/dynamodb/expression.ts';

const path = expression`#pending.${attribute('1700')}`;
const read: { title: string; owner?: number } = { title: 't' };

it.each<[what: string, expressions: Parameters<typeof expressionsOf>[0], sent: object]>([
  [
    'placeholders for false, null, 0 and the empty string, but not for undefined',
    { ConditionExpression: expression`${false} ${null} ${0} ${''}${undefined}` },
    {
      ConditionExpression: ':0 :1 :2 :3',
      ExpressionAttributeValues: { ':0': false, ':1': null, ':2': 0, ':3': '' },
    },
  ],
  [
    'names and values of all its expressions, and one alias for a name that occurs several times',
    { UpdateExpression: expression`SET ${path} = ${'a'}`, ConditionExpression: expression`${path} = ${'b'}` },
    {
      UpdateExpression: 'SET #pending.#1700 = :0',
      ConditionExpression: '#pending.#1700 = :1',
      ExpressionAttributeNames: { '#pending': 'pending', '#1700': '1700' },
      ExpressionAttributeValues: { ':0': 'a', ':1': 'b' },
    },
  ],
  [
    'a condition for which an absent attribute is below any bound',
    { ConditionExpression: all(isBelow('last', 5), is('kind', 'a')) },
    {
      ConditionExpression: '(attribute_not_exists(#last) OR #last < :0) AND #kind = :1',
      ExpressionAttributeNames: { '#last': 'last', '#kind': 'kind' },
      ExpressionAttributeValues: { ':0': 5, ':1': 'a' },
    },
  ],
  [
    'a condition that an attribute which was absent when read is still absent',
    { ConditionExpression: isAsRead(read, ['title', 'owner']) },
    {
      ConditionExpression: 'attribute_exists(pk) AND #title = :0 AND attribute_not_exists(#owner)',
      ExpressionAttributeNames: { '#title': 'title', '#owner': 'owner' },
      ExpressionAttributeValues: { ':0': 't' },
    },
  ],
])('a request has %s', (_what, expressions, sent) => {
  expect(expressionsOf(expressions)).toEqual(sent);
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
