/** Pages of the lists: their cursors, and rows read in the order of a partition. */
import { callerOf } from '../http/app-keys.ts';
import { openCursor, sealCursor } from '../http/cursors.ts';
import type { FieldError } from '../http/errors.ts';
import type { ApiEvent, Caller, Operation } from '../http/operation.ts';
import { CURSOR_REFUSAL } from './list-schema.ts';

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
        ? CURSOR_REFUSAL.explanation.values.fieldErrors
        : [],
    dataOf: <Item>({ items, next }: Page<Item>, body: PageRequest, owner: CursorOwner) => ({
      items,
      has_next_page: next !== undefined,
      ...(next !== undefined && { search_after_ctx: sealCursor(owner, purposeOf(body), next) }),
    }),
  };
}

/** A text without regard to letter case. Both ways, since one alone keeps apart what the other makes equal: `ς` and `σ`, `ẞ` and `ss`. */
const foldCase = (text: string) => text.toLowerCase().toUpperCase();

/** @returns whether a text contains `query`, in either letter case */
export function hasText(query: string): (text: string) => boolean {
  const wanted = foldCase(query);
  return (text) => foldCase(text).includes(wanted);
}
