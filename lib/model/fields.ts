/** How the fields of a kind of record are declared, each field once, and what follows from a declaration. */
import type { JSONSchema } from 'json-schema-to-ts';
import { type TypeOf, text } from '../shared/json.ts';

/** Unix milliseconds of 13 digits, from 2001 to 2286: a smaller number may be in seconds, a larger one in microseconds. */
export const AT_MS = { type: 'integer', format: 'int64', minimum: 10 ** 12, maximum: 10 ** 13 - 1 } as const;
/** Unix seconds up to the year 5138: a larger number is taken for milliseconds that were sent by mistake. */
export const UNIX_SECONDS = { type: 'integer', format: 'int64', minimum: 0, maximum: 99_999_999_999 } as const;
export const reasonCodes = { type: 'array', items: text, maxItems: 128 } as const;

/** Attributes that are written together: by a record that is later than the last one that wrote them. */
export interface Group {
  /** The attribute that stores the order of that record. Absent: only operators write the group. */
  readonly order?: string;
  /** Merges write the group, too. Its order may be only a time. */
  readonly byMerges?: true;
  /** An attribute whose presence ends all writing of the group by records. */
  readonly lockedBy?: string;
}
type Groups = Readonly<Record<string, Group>>;

/** @typeParam GroupName the groups of the kind */
export interface Field<GroupName extends string = string> {
  /** The JSON Schema of the value in a record and, if it is stored, in the row. */
  readonly schema: JSONSchema & object;
  /**
   * Where the value is kept. `id`: in the row's key and in an attribute that never changes. `key`: only in the row's key. A name: in an attribute
   * of that group. `false`: nowhere by itself, since the code makes something else of it.
   */
  readonly stored: GroupName | 'id' | 'key' | false;
  /**
   * Which records may have it; absent: all. `exports`: only lines that an export has written. `service`: none, and no export has it: the service
   * gives the value.
   */
  readonly by?: 'records with a key' | 'exports' | 'service';
  /** Whether a record must have it. */
  readonly required?: true;
  /** The value that the row has if no record gave one. */
  readonly default?: 0 | false;
  /** The JSON Schema of the value in the row, where its readers accept more than a record may say: other systems have written rows, too. */
  readonly read?: JSONSchema & object;
  /** The JSON Schema of the value in an answer. Absent: no answer shows it. */
  readonly answer?: JSONSchema & object;
  /** Its name in an answer, if that is another. There, a time is in Unix seconds. */
  readonly as?: string;
}
export type Fields = Readonly<Record<string, Field>>;

/** What is declared of a kind. */
export interface KindModel {
  readonly groups: Groups;
  readonly fields: Fields;
  /** Whether records may have further fields, which are stored as they are. */
  readonly open?: true;
}

/** The names of the fields whose declarations extend a type. */
export type NamesOf<Of extends Fields, Wanted> = {
  [Name in keyof Of]: Of[Name] extends Wanted ? Name : never;
}[keyof Of] &
  string;

/** The names of the fields that are declared so, in the order of their declaration. */
export const namesOf = <Of extends Fields, const Wanted extends Partial<Field>>(fields: Of, wanted: Wanted) =>
  Object.keys(fields).filter((name) =>
    Object.entries(wanted).every(([member, value]) => fields[name]?.[member as keyof Field] === value),
  ) as NamesOf<Of, Wanted>[];

/** These members of an object, each with its value or undefined. */
export const pick = <Name extends string, From extends { readonly [Each in Name]?: unknown }>(
  from: From,
  names: readonly Name[],
) => Object.fromEntries(names.map((name) => [name, from[name]])) as { [Each in Name]: From[Each] | undefined };

/** An object without its members that are undefined. */
export const defined = <From extends object>(from: From) =>
  Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined)) as {
    [Name in keyof From]?: Exclude<From[Name], undefined>;
  };

/** A time fits a number. */
type ValueOf<Schema extends JSONSchema> = Schema extends typeof AT_MS | typeof UNIX_SECONDS ? number : TypeOf<Schema>;
type StoredValue<Of extends Field> = Of extends { read: infer Schema extends JSONSchema }
  ? ValueOf<Schema>
  : ValueOf<Of['schema']>;
type Stored<Of extends Fields> = Exclude<keyof Of, NamesOf<Of, { stored: false | 'key' }>> & string;
type AlwaysStored<Of extends Fields> = Stored<Of> &
  NamesOf<Of, { stored: 'id' } | { required: true } | { default: 0 | false }>;

/** The attributes of a row that records give it, besides orders. */
export type RowOf<Of extends Fields> = { [Name in AlwaysStored<Of>]: StoredValue<Of[Name]> } & {
  [Name in Exclude<Stored<Of>, AlwaysStored<Of>>]?: StoredValue<Of[Name]>;
};

export type OrderNameOf<In extends Groups> = {
  [Name in keyof In]: In[Name] extends { order: infer Order extends string } ? Order : never;
}[keyof In];
/** The attributes of a row that store the orders of its groups. */
export type OrdersOf<In extends Groups> = { [Name in OrderNameOf<In>]?: Uint8Array };

/** The attributes that store the orders of groups. */
export const ordersOf = <In extends Groups>(groups: In): OrderNameOf<In>[] =>
  Object.values(groups).flatMap(({ order }) => (order === undefined ? [] : [order as OrderNameOf<In>]));

/** The schemas of a record's fields. @param without whether a field is left out */
export const schemasOf = (fields: Fields, without: (field: Field) => boolean): Record<string, object> =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, field]) => (without(field) ? [] : [[name, field.schema]])));

type Answered<Of extends Fields> = NamesOf<Of, { answer: object }>;
type AnswerName<Of extends Fields, Name extends keyof Of> = Of[Name] extends { as: infer As extends string }
  ? As
  : Name;
type AnswersOf<Of extends Fields> = {
  [Name in Answered<Of> as AnswerName<Of, Name>]: Of[Name] extends { answer: infer Schema } ? Schema : never;
};

/** The schemas of the fields of an answer, by their names there. */
export const answersOf = <Of extends Fields>(fields: Of) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { answer, as = name }]) => (answer ? [[as, answer]] : [])),
  ) as AnswersOf<Of>;

export const secondsOf = (atMs: number | undefined) => (atMs === undefined ? undefined : Math.floor(atMs / 1_000));

/** What an answer shows of a row as it is stored, but for times, by the names in the answer. */
export const answerOf = <Of extends Fields>(fields: Of, row: { readonly [Name in Stored<Of>]?: unknown }) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { schema, stored, answer, as = name }]) => {
      if (!answer || stored === false) return [];
      const value = row[name as Stored<Of>];
      return [[as, schema === AT_MS ? secondsOf(value as number | undefined) : value]];
    }),
  ) as {
    [Name in Answered<Of> & Stored<Of> as AnswerName<Of, Name>]: StoredValue<Of[Name]> | undefined;
  };
