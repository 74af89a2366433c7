import type { Command } from 'commander';
import { checkAccount, checkTable } from '../lib/check/check.ts';
import type { Finding } from '../lib/check/finding.ts';
import { repair } from '../lib/check/repair.ts';
import { countText } from '../lib/count-text.ts';
import type { Int64 } from '../lib/json.ts';
import { line } from '../lib/printable.ts';
import type { Table } from '../lib/table/client.ts';
import { requireAccount } from './accounts.ts';
import { accountId } from './arguments.ts';
import { jsonOption, withHelp, withTarget } from './command.ts';
import { CliError, type Io, print, printJson, say } from './io.ts';
import { startProgress } from './progress.ts';

type Options = { account?: Int64; json?: boolean; write?: boolean };

const accountOption = ['--account <account>', 'which account (default: the whole table)', accountId] as const;

/** Commands that find and fix inconsistencies. */
export function addCheckCommands(program: Command, io: Io): void {
  withHelp(
    program
      .command('check')
      .option(...accountOption)
      .option(...jsonOption),
    'Check alerts, feeds, pending merges, accounts and their keys for inconsistencies. Exit code 1 if there are any.',
    'check --account 42',
  ).action((options: Options, command: Command) =>
    withTarget(io, command, 'reads', async ({ target: { table } }) => {
      const findings = await look(table, options, io);
      if (options.json) printJson(io, findings.map(jsonOf));
      if (findings.length > 0)
        throw new CliError(`${countText(findings.length, 'finding')}. Run \`repair\` to see what it would change.`);
      if (!options.json) print(io, 'No problems found.');
    }),
  );

  withHelp(
    program
      .command('repair')
      .option(...accountOption)
      .option('--write', 'write the repairs (default: only show them)')
      .option(...jsonOption),
    'Fix what `check` finds: the feeds decide where alerts are, an account decides what its keys may do.',
    'repair --account 42',
    'repair --account 42 --write',
  ).action((options: Options, command: Command) =>
    withTarget(io, command, options.write ? 'writes' : 'reads', async ({ target: { table }, audit }) => {
      if (!options.write) say(io, 'Dry run: nothing is written. Pass --write to repair.');
      const findings = await look(table, options, io);
      if (options.json) printJson(io, findings.map(jsonOf));
      if (findings.length === 0) {
        if (!options.json) print(io, 'No problems found.');
        return;
      }
      const fixable = findings.filter(({ fixes }) => fixes.length > 0);
      if (!options.write)
        return say(io, `${fixable.length} of ${countText(findings.length, 'finding')} would be repaired.`);
      const progress = startProgress(io, 'repair', fixable.length);
      const accounts = new Map(fixable.map(({ account }) => [String(account), account]));
      const { fixed, left } = await audit
        .around([...accounts.values()], countText(fixable.length, 'finding'), () =>
          repair(table, findings, progress.add),
        )
        .finally(progress.end);
      say(io, `${fixed} of ${countText(findings.length, 'finding')} repaired.`);
      if (left.length > 0)
        throw new CliError('The others have changed meanwhile or cannot be repaired automatically: run `check` again.');
    }),
  );
}

/** Prints findings as they come. */
async function look(table: Table, { account, json }: Options, io: Io): Promise<Finding[]> {
  const all: Finding[] = [];
  const add = (findings: Finding[]) => {
    io.signal.throwIfAborted();
    all.push(...findings);
    if (!json) for (const finding of findings) print(io, textOf(finding));
  };
  if (account === undefined) for await (const findings of checkTable(table, io.now())) add(findings);
  else {
    await requireAccount(table, account);
    add(await checkAccount(table, account, io.now()));
  }
  return all;
}

function textOf({ kind, account, ids, detail }: Finding): string {
  const named = Object.entries({ account, ...ids }).map(([name, id]) => line`${name} ${id}`);
  return line`${kind}: ${named.join(', ')}: ${detail}`;
}

const jsonOf = ({ kind, account, ids, detail, fixes }: Finding) => ({
  kind,
  account_id: account,
  ...ids,
  detail,
  repairable: fixes.length > 0,
});
