/** What the schemas of the lists have in common. */
import { fieldRefusal } from '../http/operation.ts';
import { UNIX_SECONDS } from '../model/fields.ts';
import { flag } from '../shared/json.ts';

export const LIST_THROTTLE = { rate: 10, burst: 20 } as const;

/** The fields of a request that choose a page. */
export const pageFields = (items: string) =>
  ({
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 20,
      description: `Maximum number of ${items} in the page`,
    },
    search_after_ctx: {
      type: 'string',
      description:
        'The search_after_ctx of the previous page, unchanged, with the same filters; absent or empty for the first page. Never construct one',
    },
  }) as const;

export const queryField = (text: string) =>
  ({
    type: 'string',
    minLength: 1,
    maxLength: 256,
    description: `Only those whose ${text} contains this, in either letter case`,
  }) as const;

/** The fields of a time span. @param begun what has happened then; @param span its bounds */
export const spanFields = (begun: string, span: string) =>
  ({
    start_time: { ...UNIX_SECONDS, description: `${begun} then or later: Unix time in seconds. Requires end_time` },
    end_time: { ...UNIX_SECONDS, description: `${begun} before then: Unix time in seconds, ${span}` },
  }) as const;

export const SPAN_REFUSALS = [
  fieldRefusal('A start without an end', { field: 'end_time', schema: UNIX_SECONDS, missing: true }),
  fieldRefusal('An end without a start', { field: 'start_time', schema: UNIX_SECONDS, missing: true }),
] as const;

export const pageOf = <const Title extends string, const Item>(title: Title, item: Item, items: string) =>
  ({
    title,
    type: 'object',
    required: ['items', 'has_next_page'],
    properties: {
      items: { type: 'array', items: item, description: `The ${items} of the page` },
      has_next_page: { ...flag, description: `Whether ${items} may follow` },
      search_after_ctx: { type: 'string', description: 'For the next page; absent if none follows' },
    },
    additionalProperties: false,
  }) as const;

export const CURSOR_REFUSAL = fieldRefusal('The cursor is of another account or of other filters', {
  field: 'search_after_ctx',
  schema: { type: 'string', format: 'filtered-cursor' },
});

// Parts of `unsupported`.
export const PAGE_NUMBER = { p: { harmless: [0, 1], instead: 'search_after_ctx' } } as const;
export const TRUE_ONLY_IF_SUPPORTED = { harmless: [false] } as const;
