/** Types of schemas, and parts that several schemas have. */
import type { FromSchema, JSONSchema } from 'json-schema-to-ts';
import type { Int64 } from './json.ts';

type Int64Pattern = { pattern: { type: 'integer'; format: 'int64' }; output: Int64 };
export type TypeOf<Schema extends JSONSchema> = FromSchema<Schema, { deserialize: [Int64Pattern] }>;

export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;
export const natural = { type: 'integer', format: 'int64', minimum: 0 } as const;
