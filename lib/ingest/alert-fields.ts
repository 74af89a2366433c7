/** Schemas of what a record and a notification say of an alert. They are apart from `kinds.ts`, which needs the schemas of operations. */

/** Maximum bytes of a record over HTTPS. With account and time it fits a line of the feed. */
export const MAX_RECORD_BYTES = 64_000;

/** Unix milliseconds of 13 digits, from 2001 to 2286: a smaller number may be in seconds, a larger one in microseconds. */
export const AT_MS = { type: 'integer', format: 'int64', minimum: 10 ** 12, maximum: 10 ** 13 - 1 } as const;

export const ALERT_KEY = { type: 'string', minLength: 1, maxLength: 255 } as const;
export const LABELS = {
  type: 'object',
  maxProperties: 64,
  propertyNames: { type: 'string', minLength: 1, maxLength: 128 },
  additionalProperties: { type: 'string', maxLength: 1_024 },
} as const;
/** What an alert record says of the alert, whether it has an id or a key. */
export const ALERT_CONTENT = {
  title: { type: 'string', minLength: 1, maxLength: 512 },
  description: { type: 'string', maxLength: 4_096 },
  labels: LABELS,
  // Without blanks and control characters; the last range is that of half a surrogate pair.
  source_url: {
    type: 'string',
    maxLength: 2_048,
    pattern: '^https?://[^\\u0000-\\u0020\\u007f\\ud800-\\udfff]+$',
  },
} as const;
