/** What a value must be, read from its schema: a message catalog puts it into words. */
export type Rule =
  | { is: 'boolean' }
  | { is: 'integer'; min?: number; max?: number }
  /** `max` as text if a double cannot hold it. */
  | { is: 'int64'; min?: number; max?: number | string }
  | { is: 'string'; min?: number; max?: number }
  | { is: 'objectId' }
  | { is: 'oneOf'; values: readonly string[] }
  | { is: 'array'; min?: number; max?: number; items: Rule }
  | { is: 'anything' };

/** One offending field of a request body. */
export interface FieldError {
  /** The field's name. */
  field: string;
  /** Everything it must be, not only the violated part. */
  must: Rule;
  /** The field is required and absent. */
  missing?: boolean;
  /** Index of the first invalid item of an array; `must` is the item's. */
  item?: number;
  /** How many more items of the field are invalid. */
  moreItems?: number;
}

/** The part of JSON Schema that this service's request schemas use. */
export interface FieldSchema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Of an int64, if a double cannot hold it. */
  readonly 'x-maximum'?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: FieldSchema;
}

const bounds = <Max>(min: number | undefined, max: Max | undefined) => ({
  ...(min !== undefined && { min }),
  ...(max !== undefined && { max }),
});

/** Everything that a field's schema requires. */
export function ruleOf(schema: FieldSchema): Rule {
  if (schema.enum) return { is: 'oneOf', values: schema.enum };
  switch (schema.type) {
    case 'boolean':
      return { is: 'boolean' };
    case 'integer':
      return schema.format === 'int64'
        ? { is: 'int64', ...bounds(schema.minimum, schema['x-maximum'] ?? schema.maximum) }
        : { is: 'integer', ...bounds(schema.minimum, schema.maximum) };
    case 'string':
      return schema.format === 'objectid'
        ? { is: 'objectId' }
        : { is: 'string', ...bounds(schema.minLength, schema.maxLength) };
    case 'array':
      return { is: 'array', ...bounds(schema.minItems, schema.maxItems), items: ruleOf(schema.items ?? {}) };
    default:
      return { is: 'anything' };
  }
}
