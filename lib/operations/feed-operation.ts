/** What is declared of the operations of the feed alike. It is apart from their code, since all that reads schemas reads it. */
import type { Operation } from '../http/operation.ts';

export const FEED_OPERATION = {
  tag: 'Feed',
  permission: 'feed',
  grants: [
    { actions: ['GetItem'], on: ['appKey', 'rateCount'] },
    { actions: ['UpdateItem'], on: ['rateCount'] },
  ],
  sendsTo: ['ingest', 'refused'],
  concurrencyShare: 0.05,
  headers: ['Content-Language'],
  response: {
    title: 'FeedResult',
    type: 'object',
    required: ['accepted'],
    properties: {
      accepted: { type: 'integer', minimum: 0, description: 'How many items the feed has taken' },
      refused: {
        type: 'array',
        description: 'The first ten of the items that were refused; absent if there are none',
        items: {
          title: 'RefusedItem',
          type: 'object',
          required: ['index', 'reason'],
          properties: {
            index: { type: 'integer', minimum: 0, description: 'Its place among the items of the call, from 0' },
            reason: { type: 'string', description: 'What it must be, in the language of the Accept-Language header' },
          },
          additionalProperties: false,
        },
      },
      refused_count: {
        type: 'integer',
        minimum: 1,
        description: 'How many items were refused; absent if there are none',
      },
    },
    additionalProperties: false,
  },
} as const satisfies Partial<Operation>;
