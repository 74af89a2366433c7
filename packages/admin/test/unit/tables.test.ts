/** Tables of the operator's command. */
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { plainTable, recordsTable } from '../../cli/output.ts';

const ID = '64f000000000000000000001';
const LONG = 'The name of an account that somebody has pasted a whole paragraph into '.repeat(4).trim();
const ACCOUNTS = [
  { account_id: 42, name: 'Acme', state: 'active' },
  { account_id: 43, name: LONG, state: 'suspended' },
  { account_id: 44, name: '株式会社サンプル', state: 'active' },
];
const COLUMNS = ['account_id', 'name', 'state'] as const;

it.each([40, 80, 132, 265])('a table fits a terminal of %i columns, and its other columns stay whole', (width) => {
  const lines = recordsTable(ACCOUNTS, COLUMNS, width).split('\n');
  expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(width);
  expect(lines[1]).toMatch(/^42 {10}Acme +active$/);
  expect(lines[2]).toMatch(/^43 {10}The name.*… {2}suspended$/);
  expect(lines[3]).toMatch(/^44 {10}株式会社サンプル +active$/);
  // The columns are aligned, also beside characters of double width.
  const states = lines.map((line) => stringWidth(line.slice(0, line.search(/state$|active$|suspended$/))));
  expect(new Set(states).size).toBe(1);
});

it('a table that fits is not cut', () => {
  expect(recordsTable(ACCOUNTS.slice(0, 1), COLUMNS, 80)).toBe(recordsTable(ACCOUNTS.slice(0, 1), COLUMNS));
});

it('without a terminal all values are whole, and one long value does not pad the other rows', () => {
  const lines = recordsTable(ACCOUNTS, COLUMNS).split('\n');
  expect(lines[2]).toBe(`43          ${LONG}  suspended`);
  expect(lines[1]?.length).toBeLessThan(80);
});

it('the narrowest terminal cuts no column to nothing, no text with colours, and no character in half', () => {
  const family = '👩‍👩‍👧‍👦';
  const painted = `\u001b[31m${'x'.repeat(30)}\u001b[39m`;
  const table = plainTable(
    [
      [ID, family.repeat(20), { painted }, 'end'],
      ['a', 'b', 'c', 'end'],
    ],
    [],
    1,
  );
  expect(table.split('\n')).toEqual([
    `64f0000…  ${family.repeat(3)}…   ${painted}  end`,
    `a         b         c${' '.repeat(31)}end`,
  ]);
});
