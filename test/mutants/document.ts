import { MUTANTS } from './mutants.ts';

/** The planted bugs as a table in Markdown. */
export const mutantsTable = () =>
  [
    '| planted in | bug | noticed by |',
    '| --- | --- | --- |',
    ...MUTANTS.map(
      ({ file, name, tests }) => `| \`${file}\` | ${name} | ${tests.map((one) => `\`${one}\``).join(', ')} |`,
    ),
  ].join('\n');

/** The document with this table in place of the one that it has. */
export const withMutants = (document: string, table: string) =>
  document.replace(
    /(<!-- mutants -->\n).*?(\n<!-- end of mutants -->)/s,
    (_all, begin: string, end: string) => `${begin}\n${table}\n${end}`,
  );
