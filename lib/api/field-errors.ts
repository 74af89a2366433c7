/** One offending field of a request body. */
export interface FieldError {
  field: string;
  /** Everything it must be, not only the violated part: a message catalog puts it into words. */
  schema: FieldSchema;
  /** The field is required and absent. */
  missing?: boolean;
  /** Index of the first invalid item of an array; `schema` is then that of the items. */
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
