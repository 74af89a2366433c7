/** What the lists have in common: their handler with its cursors, time spans, and the search in texts. */
import type { Deps } from '../deps.ts';
import { callerOf } from '../http/app-keys.ts';
import type { CrossCheck, Validator } from '../http/body.ts';
import { createOperationHandler } from '../http/call.ts';
import { openCursor, sealCursor } from '../http/cursors.ts';
import type { FieldError, FieldSchema } from '../http/errors.ts';
import type { Call, Caller, Handler, Operation } from '../http/operation.ts';
import type { Int64 } from '../shared/json.ts';
import { type Table, withSignal } from '../table/client.ts';
import { CURSOR_REFUSAL } from './list-schema.ts';

const DAY_S = 86_400;

/** A page, before its cursor is sealed. */
export interface Page<Item> {
  items: Item[];
  /** The place after which the next page begins; undefined: none follows. */
  next: string | undefined;
}

interface List<Body, Item> {
  readonly validate: Validator;
  /** Checks a body that fits its schema, but not its cursor. */
  readonly check?: (body: Body) => readonly FieldError[];
  /** Reads a page. @param after `next` of the page before; undefined: the first page */
  read(table: Table, account: Int64, body: Body, after: string | undefined): Promise<Page<Item>>;
}

/** The handler of a list. Its cursors are of the account, and each continues only the list with the same filters and order. */
export function createListHandler<Body extends { search_after_ctx?: string }, Item>(
  operation: Operation,
  { validate, check = () => [], read }: List<Body, Item>,
  deps: Deps,
): Handler {
  const { name, request } = operation;
  const filters = Object.keys(request.properties).filter((field) => !['limit', 'search_after_ctx'].includes(field));
  const purposeOf = (body: object) =>
    `${name}-cursor-1 ${JSON.stringify(filters.map((field) => (body as Record<string, unknown>)[field]))}`;
  /** The place after which the page begins; undefined for the first page, or for a cursor of another account or list. */
  const placeBefore = (body: Body, owner: Caller): string | undefined =>
    body.search_after_ctx ? openCursor(owner, purposeOf(body), body.search_after_ctx) : undefined;

  const crossCheck: CrossCheck<Body> = (body, offending, event) => {
    if (offending.size > 0) return [];
    const errors = check(body);
    const isForeign = body.search_after_ctx && placeBefore(body, callerOf(event)) === undefined;
    return errors.length === 0 && isForeign ? CURSOR_REFUSAL.values.fieldErrors : errors;
  };
  async function operate({ body, caller, signal }: Call<Body>) {
    const after = placeBefore(body, caller);
    const { items, next } = await read(withSignal(deps.table, signal), caller.accountId, body, after);
    const search_after_ctx = next === undefined ? undefined : sealCursor(caller, purposeOf(body), next);
    return { data: { items, has_next_page: next !== undefined, search_after_ctx } };
  }
  return createOperationHandler(operation, { validate, crossCheck, operate }, deps);
}

interface SpanRequest {
  start_time?: number | bigint;
  end_time?: number | bigint;
}
/** For cross-checks: the error of a time span that lacks one time, ends before it begins, or has more than `maxDays`. */
export function spanErrors(
  { start_time, end_time }: SpanRequest,
  { properties }: { properties: { start_time: FieldSchema; end_time: FieldSchema } },
  maxDays = Number.POSITIVE_INFINITY,
): readonly FieldError[] {
  if (start_time === undefined && end_time === undefined) return [];
  const missing = Object.entries({ start_time, end_time }).find(([, time]) => time === undefined)?.[0];
  if (missing) return [{ field: missing, schema: properties[missing as keyof SpanRequest], missing: true }];
  const [minimum, maximum] = [Number(start_time) + 1, Number(start_time) + maxDays * DAY_S];
  if (Number(end_time) >= minimum && Number(end_time) <= maximum) return [];
  const bounds = { minimum, 'x-minimum-field': 'start_time + 1' };
  const upper = Number.isFinite(maxDays) && { maximum, 'x-maximum-field': `start_time + ${maxDays} days` };
  return [{ field: 'end_time', schema: { ...properties.end_time, ...bounds, ...upper } }];
}

/** A text without regard to letter case. Both ways, since one alone keeps apart what the other makes equal: `ς` and `σ`, `ẞ` and `ss`. */
const foldCase = (text: string) => text.toLowerCase().toUpperCase();

/** @returns whether a text contains `query`, in either letter case */
export function hasText(query: string): (text: string) => boolean {
  const wanted = foldCase(query);
  return (text) => foldCase(text).includes(wanted);
}
