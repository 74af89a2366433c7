import { describe, expect, it } from 'vitest';
import {
  all,
  attribute,
  EXISTS,
  expression,
  expressionsOf,
  IS_NEW,
  is,
  isAsRead,
  isBelow,
  projection,
  set,
} from '../../lib/dynamodb/expression.ts';

describe('an expression', () => {
  it('has a placeholder for each value, and an alias for each name after a #', () => {
    expect(expressionsOf({ UpdateExpression: expression`SET title = ${'t'}, #version = #version + ${1}` })).toEqual({
      UpdateExpression: 'SET title = :0, #version = #version + :1',
      ExpressionAttributeNames: { '#version': 'version' },
      ExpressionAttributeValues: { ':0': 't', ':1': 1 },
    });
  });

  it('takes false, null, 0 and the empty string as values, and leaves undefined ones out', () => {
    const { ConditionExpression, ExpressionAttributeValues } = expressionsOf({
      ConditionExpression: expression`${false} ${null} ${0} ${''}${undefined}`,
    });
    expect(ConditionExpression).toBe(':0 :1 :2 :3');
    expect(ExpressionAttributeValues).toEqual({ ':0': false, ':1': null, ':2': 0, ':3': '' });
  });

  it('is a part of another, and may be several times', () => {
    const path = expression`#pending.${attribute('1700')}`;
    expect(expressionsOf({ ConditionExpression: expression`${path} = ${'a'} OR ${path} = ${'b'}` })).toEqual({
      ConditionExpression: '#pending.#1700 = :0 OR #pending.#1700 = :1',
      ExpressionAttributeNames: { '#pending': 'pending', '#1700': '1700' },
      ExpressionAttributeValues: { ':0': 'a', ':1': 'b' },
    });
  });

  it('shares names and values with the others of its request', () => {
    expect(expressionsOf({ UpdateExpression: set({ ttl: 1 }), ConditionExpression: is('ttl', 0) })).toEqual({
      UpdateExpression: 'SET #ttl = :0',
      ConditionExpression: '#ttl = :1',
      ExpressionAttributeNames: { '#ttl': 'ttl' },
      ExpressionAttributeValues: { ':0': 1, ':1': 0 },
    });
  });

  it('that is absent adds nothing, and maps that would be empty are left out', () => {
    expect(
      expressionsOf({ ConditionExpression: expression`attribute_exists(pk)`, FilterExpression: undefined }),
    ).toEqual({
      ConditionExpression: 'attribute_exists(pk)',
    });
  });
});

describe('an update', () => {
  it.each([
    [set({ a: 1, b: undefined, c: 2, d: undefined }), 'SET #a = :0, #c = :1 REMOVE #b, #d'],
    [set({ a: 1 }), 'SET #a = :0'],
    [set({ a: undefined }), 'REMOVE #a'],
    [set({ a: 1 }, { b: 2, c: undefined }), 'SET #a = :0, #b = if_not_exists(#b, :1)'],
  ])('sets attributes, removes undefined ones, and gives first values', (update, text) => {
    expect(expressionsOf({ UpdateExpression: update }).UpdateExpression).toBe(text);
  });
});

describe('a condition', () => {
  it('takes an absent attribute for one below any bound', () => {
    const condition = all(isBelow('last', 5), is('kind', 'a'));
    expect(expressionsOf({ ConditionExpression: condition })).toEqual({
      ConditionExpression: '(attribute_not_exists(#last) OR #last < :0) AND #kind = :1',
      ExpressionAttributeNames: { '#last': 'last', '#kind': 'kind' },
      ExpressionAttributeValues: { ':0': 5, ':1': 'a' },
    });
  });

  it('requires an absent attribute to be absent still', () => {
    const row: { title: string; owner?: number } = { title: 't' };
    expect(expressionsOf({ ConditionExpression: isAsRead(row, ['title', 'owner']) })).toEqual({
      ConditionExpression: 'attribute_exists(pk) AND #title = :0 AND attribute_not_exists(#owner)',
      ExpressionAttributeNames: { '#title': 'title', '#owner': 'owner' },
      ExpressionAttributeValues: { ':0': 't' },
    });
  });

  it('is that a row exists, or that it is new', () => {
    const texts = [EXISTS, IS_NEW].map((is) => expressionsOf({ ConditionExpression: is }).ConditionExpression);
    expect(texts).toEqual(['attribute_exists(pk)', 'attribute_not_exists(pk)']);
  });

  it('of one part is that part', () => {
    expect(expressionsOf({ ConditionExpression: all(is('a', 1)) }).ConditionExpression).toBe('#a = :0');
  });
});

it('a projection has an alias for each name that may be a reserved word', () => {
  expect(expressionsOf({ ProjectionExpression: projection(['pk', 'ttl', 'merge_id']) })).toEqual({
    ProjectionExpression: '#pk, #ttl, merge_id',
    ExpressionAttributeNames: { '#pk': 'pk', '#ttl': 'ttl' },
  });
});
