/** Checks that several sections share, and helpers to write checks. */
import { expect } from 'vitest';
import { loadData } from '../../../admin/data/load.ts';
import { data, invalid, refused } from '../answers.ts';
import { type ApiClient, DELETE, FLEET, MERGE, RUM } from '../api-client.ts';
import type { OperationContract } from '../contract.ts';
import { type Line, textsOf } from '../data.ts';
import { type LocalAccount, Skipped } from '../environment.ts';
import { type Filter, HOSTS, matching } from '../hosts.ts';
import { type Check, todo } from '../requirement.ts';

// biome-ignore lint/suspicious/noExplicitAny: a check looks at whatever the answer holds
export type Item = any;

/** A work item that no account has. */
export const MISSING = { work_item_id: 'certify-no-such', version: 1 };

/** A request for all hosts of the data set. */
export const ALL = { limit: HOSTS.length, scan_limit: HOSTS.length };

export const idsOf = (items: Item[]): string[] => items.map(({ host_id }) => host_id);

/** All hosts of the data set, in one page. */
export async function wholeFleet(api: ApiClient): Promise<Item> {
  api.need('dataSet');
  return data(await api.page(ALL));
}

let storedMs = 0;
/** Writes data of an account to the table, without the service. Each call is later than the import and the call before: only later data replaces rows. */
export async function store({ table }: LocalAccount, lines: Line[]): Promise<void> {
  storedMs = Math.max(Date.now(), storedMs) + 1;
  await loadData(table, 'certify', textsOf(lines), { nowMs: storedMs });
}

/** Each value of a field is refused with a message that names the field. */
export const refuses =
  (path: string, field: string, values: unknown[], otherFields: object = {}): Check =>
  async (api) => {
    for (const value of values) invalid(await api.call(path, { ...otherFields, [field]: value }), field);
  };

/** Fields that a list does not have: each is refused by a message that names it, unless its value does not matter. @param fields the values that do not */
export const refusesUnsupported =
  (path: string, fields: Readonly<Record<string, unknown[]>>): Check =>
  async (api) => {
    const callWith = (choose: (harmless: unknown[]) => unknown) =>
      api.call(path, Object.fromEntries(Object.entries(fields).map(([name, harmless]) => [name, choose(harmless)])));
    for (const value of ['x', 2, [0], {}]) {
      const answer = await callWith(() => value);
      for (const field of [...Object.keys(fields), 'search_after_ctx']) invalid(answer, field);
    }
    for (const value of [null, '', []]) data(await callWith(() => value));
    data(await callWith(([harmless]) => harmless));
    data(await api.call(path, { p: fields.p?.at(-1) }));
  };

/** A cursor continues the list, of the same account and filters only. @param other filters of another list @returns both pages */
export async function continues(api: ApiClient, path: string, body: object, other: object): Promise<[Item, Item]> {
  const first = data(await api.call(path, body));
  const { search_after_ctx } = first;
  const again = { ...body, search_after_ctx };
  const second = data(await api.call(path, again));
  const as = api.need('otherKey');
  for (const [changed, options] of [[{ ...again, ...other }], [again, { as }]] as const)
    invalid(await api.call(path, changed, options), 'search_after_ctx');
  return [first, second];
}

/** Each filter finds exactly the right hosts. */
export const finds =
  (...filters: (Filter & { cursor?: string })[]): Check =>
  async (api) => {
    api.need('dataSet');
    for (const filter of filters) {
      const { items } = data(await api.page({ ...ALL, ...filter }));
      expect(idsOf(items), JSON.stringify(filter)).toEqual(matching(filter));
    }
  };

/** Makes a check on each operation. Ends as skipped if the account lacks a permission that some of them need. */
export async function onEach(api: ApiClient, check: (operation: OperationContract) => Promise<unknown>): Promise<void> {
  const skipped: Skipped[] = [];
  for (const operation of api.operations)
    await check(operation).catch((error) => {
      if (!(error instanceof Skipped)) throw error;
      skipped.push(error);
    });
  if (skipped[0]) throw skipped[0];
}

export async function needsPost(api: ApiClient): Promise<void> {
  for (const { path } of api.operations)
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await api.call(path, undefined, { method });
      refused(answer, 'MethodNotAllowed');
      expect(answer.headers.get('allow'), `Allow of ${method} ${path}`).toBe('POST');
    }
}

export async function needsJson(api: ApiClient): Promise<void> {
  const others = ['text/plain', 'application/jsonp', 'application/json-patch+json', 'text/plain; application/json'];
  await onEach(api, async ({ path }) => {
    for (const type of others)
      refused(await api.call(path, {}, { headers: { 'Content-Type': type } }), 'InvalidContentType');
  });
  for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/json ; x=y'])
    data(await api.rum({}, { headers: { 'Content-Type': type } }));
}

export async function needsKey(api: ApiClient): Promise<void> {
  for (const { path } of api.operations) refused(await api.call(path, {}, { as: null }), 'Unauthorized');
  refused(await api.call(RUM, {}, { as: '' }), 'Unauthorized');
  for (const path of [DELETE, MERGE]) refused(await api.call(path), 'InvalidParameter');
}

export async function needsPermission(api: ApiClient): Promise<void> {
  data(await api.page({ limit: 1 }));
  const as = api.need('otherKey');
  for (const { path, permission } of api.operations)
    if (permission !== undefined) refused(await api.call(path, {}, { as }), 'AccessDenied', permission);
}

export async function namesEveryInvalidField(api: ApiClient): Promise<void> {
  const answer = await api.call(FLEET, { limit: 0, statuses: 'x', edge_clusters: 1 });
  for (const field of ['limit', 'statuses', 'edge_clusters']) invalid(answer, field);
  const withCursor = await api.call(FLEET, { cursor: 'nonsense', limit: 500 });
  for (const field of ['cursor', 'limit']) invalid(withCursor, field);
}

/** Errors of every kind have the same code in every language, and a message in the preferred language. */
export async function localizesMessages(api: ApiClient): Promise<void> {
  for (const [language, expected] of [
    ['zh-CN', 'zh'],
    ['en', 'en'],
    ['xx, zh-CN;q=0.8, en;q=0.5', 'zh'],
    ['zh-CN;q=0.1, en;q=0.9', 'en'],
  ] as const) {
    const headers = { 'Accept-Language': language };
    const answers = {
      InvalidParameter: await api.remove({}, { headers }),
      ResourceNotFound: await api.remove(MISSING, { headers }),
      InvalidContentType: await api.remove({}, { headers: { ...headers, 'Content-Type': 'text/plain' } }),
      Unauthorized: await api.remove({}, { headers, as: 'unknown' }),
    };
    for (const [code, answer] of Object.entries(answers)) {
      refused(answer, code);
      expect(answer.headers.get('content-language')?.slice(0, 2), `Content-Language for ${language}`).toBe(expected);
      const isChinese = /\p{Script=Han}/u.test(answer.body.error.message);
      expect(isChinese, `Chinese message for ${language}`).toBe(expected === 'zh');
    }
    // Without a key, no function is called.
    const withoutKey = await api.remove({}, { headers, as: null });
    refused(withoutKey, 'Unauthorized');
    expect(withoutKey.headers.get('content-language'), `Content-Language without a key for ${language}`).toBe('en');
  }
}

export const RATE_LIMITED = todo('checked in section 8');
export const INTERNAL_ERROR = todo('the answer to a bug of the service, which no call can cause');

/** What the contract says in the same words of most operations. */
export const COMMON_ERRORS = {
  '401 Unauthorized': needsKey,
  '429 RequestTooFrequently': RATE_LIMITED,
  '500 InternalError': INTERNAL_ERROR,
};
