import type { FieldError, FieldSchema } from '../errors.ts';

export type Bound = number | string | bigint | undefined;

/** How a language says what is wrong with a field. A bound that is undefined does not limit the value. */
export interface FieldWords {
  /** Of formats that have words of their own. */
  readonly formats: Readonly<Record<string, string>>;
  readonly types: Readonly<Record<'boolean' | 'object' | 'any', string>>;
  oneOf(values: readonly string[]): string;
  /** A bound, and the field that it comes from. */
  named(bound: Bound, field: string): string;
  integer(min: Bound, max: Bound): string;
  /** An integer without an upper bound of its own. */
  int64(min: Bound): string;
  string(minLength: Bound, maxLength: Bound): string;
  array(minItems: Bound, maxItems: Bound, item: string): string;
  /** Follows what a text must be besides. */
  readonly wellFormed: string;
  /** Follows what a time must be, by the unit of the one that was given. */
  readonly otherUnit: Readonly<Record<'seconds' | 'milliseconds', (given: string) => string>>;
  missing(field: string, wanted: string): string;
  /** @param name of a field or an item @param more how many other items are invalid */
  invalid(name: string, more: number, wanted: string): string;
  unsupported(field: string, instead: string | undefined): string;
}

/** What is wrong with a field. */
export function fieldMessage(error: FieldError, words: FieldWords): string {
  const { field, schema, missing, illFormed, item, moreItems = 0, wrongUnit, unsupported } = error;
  if (unsupported) return words.unsupported(field, unsupported.instead);
  const unit = wrongUnit ? words.otherUnit[wrongUnit.unit](wrongUnit.given) : '';
  const wanted = `${expected(schema, words)}${illFormed ? words.wellFormed : ''}${unit}`;
  if (missing) return words.missing(field, wanted);
  return words.invalid(item === undefined ? field : `${field}[${item}]`, moreItems, wanted);
}

function expected(schema: FieldSchema, words: FieldWords): string {
  const { type, format = '', enum: values, minimum, maximum, items = {} } = schema;
  if (values) return words.oneOf(values);
  const known = words.formats[format];
  if (known !== undefined) return known;
  switch (type) {
    case 'boolean':
    case 'object':
      return words.types[type];
    case 'integer': {
      const max = schema['x-maximum'] ?? maximum;
      if (format === 'int64' && max === undefined) return words.int64(minimum);
      const min = minimum ?? (format === 'int64' ? -(2n ** 63n) : undefined);
      const { 'x-minimum-field': minimumField, 'x-maximum-field': maximumField } = schema;
      return words.integer(
        minimumField === undefined ? min : words.named(min, minimumField),
        maximumField === undefined ? max : words.named(max, maximumField),
      );
    }
    case 'string':
      return words.string(schema.minLength, schema.maxLength);
    case 'array':
      return words.array(schema.minItems, schema.maxItems, expected(items, words));
    default:
      return words.types.any;
  }
}
