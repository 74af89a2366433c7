/** Tables of the operator's command. */
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { textOf } from '../../cli/output.ts';
import { type Listing, tableOf } from '../../text/table.ts';

const ID = '64f000000000000000000001';
const LONG = 'The name of an account that somebody has pasted a whole paragraph into '.repeat(4).trim();
const ACCOUNTS = [
  { account_id: 42, name: 'Acme', state: 'active' },
  { account_id: 43, name: LONG, state: 'suspended' },
  { account_id: 44, name: '株式会社サンプル', state: 'active' },
];
const LISTING: Listing<(typeof ACCOUNTS)[number]> = {
  columns: (['account_id', 'name', 'state'] as const).map((of) => ({ title: of, of })),
  none: '',
};
const tableText = (accounts: typeof ACCOUNTS, width?: number) => textOf(tableOf(LISTING, accounts), width);

it.each([40, 80, 132, 265])('a table fits a terminal of %i columns, and its other columns stay whole', (width) => {
  const lines = tableText(ACCOUNTS, width).split('\n');
  expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(width);
  expect(lines[1]).toMatch(/^42 {10}Acme +active$/);
  expect(lines[2]).toMatch(/^43 {10}The name.*… {2}suspended$/);
  expect(lines[3]).toMatch(/^44 {10}株式会社サンプル +active$/);
  // The columns are aligned, also beside characters of double width.
  const states = lines.map((line) => stringWidth(line.slice(0, line.search(/state$|active$|suspended$/))));
  expect(new Set(states).size).toBe(1);
});

it('a table that fits is not cut', () => {
  expect(tableText(ACCOUNTS.slice(0, 1), 80)).toBe(tableText(ACCOUNTS.slice(0, 1)));
});

it('without a terminal all values are whole, and one long value does not pad the other rows', () => {
  const lines = tableText(ACCOUNTS).split('\n');
  expect(lines[2]).toBe(`43          ${LONG}  suspended`);
  expect(lines[1]?.length).toBeLessThan(80);
});

it('the narrowest terminal cuts no column to nothing, no command to paste, and no character in half', () => {
  const family = '👩‍👩‍👧‍👦';
  const command = `find ${'x'.repeat(19)}`;
  const rows = [
    [ID, family.repeat(20), { command }, 'end'],
    ['a', 'b', 'c', 'end'],
  ];
  expect(textOf({ head: ['h', 'h', 'h', 'h'], rows, none: '' }, 1).split('\n')).toEqual([
    `h         h         h${' '.repeat(31)}h`,
    `64f0000…  ${family.repeat(3)}…   admin ${command}  end`,
    `a         b         c${' '.repeat(31)}end`,
  ]);
});

it('a column that is empty in all rows is left out, and a thing has its id and its title', () => {
  const rows = [
    { id: 1, note: '', incident: { incident_id: ID, title: 'Storage' } },
    { id: 2_000, note: '', incident: undefined },
  ];
  const listing: Listing<(typeof rows)[number]> = {
    columns: [
      { title: 'entry', of: 'id' },
      { title: 'note', of: 'note' },
      { title: 'count', of: 'id', as: 'count' },
      {
        title: 'incident',
        of: ({ incident }) => incident && { id: incident.incident_id, text: incident.title, path: [] },
      },
    ],
    none: 'None.',
  };
  expect(textOf(tableOf(listing, rows))).toBe(`entry  count  incident\n1      1      ${ID} Storage\n2000   2,000`);
  expect(textOf(tableOf(listing, []))).toBe('None.');
});
