/** Pages of the lists: their cursors, and rows read in the order of a partition. */
import { callerOf } from '../http/app-keys.ts';
import { openCursor, sealCursor } from '../http/cursors.ts';
import type { FieldError, FieldSchema } from '../http/errors.ts';
import type { ApiEvent, Caller, Operation } from '../http/operation.ts';
import { CURSOR_REFUSAL } from './list-schema.ts';

const DAY_S = 86_400;

interface PageRequest {
  search_after_ctx?: string;
}
type CursorOwner = Pick<Caller, 'cursorSecret'>;

/** A page, before its cursor is sealed. */
export interface Page<Item> {
  items: Item[];
  /** The place after which the next page begins; undefined: none follows. */
  next: string | undefined;
}

/** The cursors of a list. Each continues only the list with the same filters and order. */
export function cursorsOf({ name, request }: Pick<Operation, 'name' | 'request'>) {
  const filters = Object.keys(request.properties).filter((field) => !['limit', 'search_after_ctx'].includes(field));
  const purposeOf = (body: object) =>
    `${name}-cursor-1 ${JSON.stringify(filters.map((field) => (body as Record<string, unknown>)[field]))}`;
  /** The place after which the page begins; undefined for the first page, or for a cursor of another account or list. */
  const placeBefore = (body: PageRequest, owner: CursorOwner): string | undefined =>
    body.search_after_ctx ? openCursor(owner, purposeOf(body), body.search_after_ctx) : undefined;
  return {
    placeBefore,
    /** For cross-checks: the error of a cursor that was not issued to the account for this list. */
    cursorErrors: (body: PageRequest, event: ApiEvent): readonly FieldError[] =>
      body.search_after_ctx && placeBefore(body, callerOf(event)) === undefined
        ? CURSOR_REFUSAL.values.fieldErrors
        : [],
    dataOf: <Item>({ items, next }: Page<Item>, body: PageRequest, owner: CursorOwner) => ({
      items,
      has_next_page: next !== undefined,
      ...(next !== undefined && { search_after_ctx: sealCursor(owner, purposeOf(body), next) }),
    }),
  };
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
