/** What says again by hand which fields an alert has, since it is for people or independent of the code. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { alert } from '../../../../lib/model/alert.ts';
import { namesOf } from '../../../../lib/model/fields.ts';
import { alertItem as answered } from '../../../../lib/operations/alert-schema.ts';
import { alertItem } from '../../src/contract.ts';
import { alertContent } from '../../src/data.ts';

const CONTENT = namesOf(alert.fields, { stored: 'content' });

it('the certificate accepts each field that an answer shows of an alert, and sends all content', () => {
  expect(Object.keys(alertItem.properties).sort()).toEqual(Object.keys(answered.properties).sort());
  expect(['title', ...Object.keys(alertContent(0, 0))]).toEqual(expect.arrayContaining(CONTENT));
});

it('docs/feed.md lists the content that a record replaces', () => {
  const feed = readFileSync(new URL('../../../../docs/feed.md', import.meta.url), 'utf8');
  const [, list = ''] = /content \(([^)]*)\)/.exec(feed) ?? [];
  expect(list.match(/\w+/g)).toEqual(CONTENT);
});
