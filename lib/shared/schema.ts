/** Types of schemas, and parts that several schemas share. */
import type { FromSchema, JSONSchema } from 'json-schema-to-ts';
import type { Int64 } from './json.ts';

type Int64Pattern = { pattern: { type: 'integer'; format: 'int64' }; output: Int64 };
export type TypeOf<Schema extends JSONSchema> = FromSchema<Schema, { deserialize: [Int64Pattern] }>;

/** A row with these attributes and no others. */
export type RowOf<Schema extends { required: readonly string[]; properties: Readonly<Record<string, JSONSchema>> }> =
  TypeOf<Schema & { type: 'object'; additionalProperties: false }>;

export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;
export const natural = { type: 'integer', format: 'int64', minimum: 0 } as const;
export const codes = { type: 'array', items: text } as const;
export const objectId = { type: 'string', format: 'objectid', pattern: '^[0-9a-fA-F]{24}$' } as const;
export const hostId = { type: 'string', minLength: 1, maxLength: 256 } as const;

/** Fields of responses. */
export const int64Of = (description: string) => ({ type: 'integer', format: 'int64', description }) as const;
export const textOf = (description: string) => ({ ...text, description }) as const;
export const flagOf = (description: string) => ({ ...flag, description }) as const;
export const textsOf = (description: string) => ({ ...codes, description }) as const;
