import { expectTypeOf, it } from 'vitest';
import type { Table } from '../../../lib/table/client.ts';
import { collections, keys } from '../../../lib/table/keys.ts';
import { batchGet, getRow, queryRows } from '../../../lib/table/read.ts';

// Types are gone when a test runs: it is `npm run check` that fails where these do not hold.
it('a row has the type of its key, with the attributes that are read', () => {
  const reads = {
    someAttributes: (table: Table) => getRow(table, keys.alert(1, 'a'), ['title']),
    wholeRow: (table: Table) => getRow(table, keys.member(1, 2)),
    severalRows: (table: Table) => queryRows(table, collections.incidents(1), { attributes: ['sk', 'owner_id'] }),
    async ofTwoKinds(table: Table) {
      const { rows } = await batchGet(table, [keys.alert(1, 'a'), keys.incident(1, 'i')], { attributes: ['title'] });
      return rows.of(keys.incident(1, 'i'));
    },
    // @ts-expect-error no alert has this attribute
    unknown: (table: Table) => getRow(table, keys.alert(1, 'a'), ['owner_id']),
    // @ts-expect-error alerts are not read by the key of an incident
    elsewhere: (table: Table) => batchGet<'alert', 'title'>(table, [keys.incident(1, 'i')]),
  };
  type Row<Name extends keyof typeof reads> = NonNullable<Awaited<ReturnType<(typeof reads)[Name]>>>;
  expectTypeOf<keyof Row<'someAttributes'>>().toEqualTypeOf<'title'>();
  expectTypeOf<keyof Row<'wholeRow'>>().toEqualTypeOf<'pk' | 'sk' | 'member_id' | 'name'>();
  expectTypeOf<keyof Row<'severalRows'>[number]>().toEqualTypeOf<'sk' | 'owner_id'>();
  expectTypeOf<keyof Row<'ofTwoKinds'>>().toEqualTypeOf<'pk' | 'sk' | 'title'>();
});
