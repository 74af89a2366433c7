import type { Int64 } from '../../../lib/shared/json.ts';
import { checkAccount, checkTable } from '../check/check.ts';
import type { Finding } from '../check/finding.ts';
import { repair } from '../check/repair.ts';
import { countText, line } from '../text/printable.ts';
import { accountId } from './arguments.ts';
import { type AdminCommand, jsonOption, type Session, type WritingSession } from './command.ts';
import { CliError, FoundError, print, printJson, say } from './io.ts';
import { startProgress } from './output.ts';

type Options = { account?: Int64; json?: boolean };

const accountOption = ['--account <account>', 'which account (default: the whole table)', accountId] as const;

export function addCheckCommands(program: AdminCommand): void {
  program
    .command('check')
    .explain(
      'Check alerts, histories, pending merges, accounts and their keys for inconsistencies. Exit code 3 if there are any.',
      'check --account 42',
    )
    .option(...accountOption)
    .option(...jsonOption)
    .reads(async (session: Session<Options>) => {
      const findings = await printFindings(session);
      if (findings.length === 0) return;
      const all = countText(findings.length, 'finding');
      if (!findings.some(isRepairable)) throw new FoundError(`${all}, which \`repair\` cannot fix.`);
      throw new FoundError(`${all}. Run \`repair\` to see what it would change.`);
    });

  program
    .command('repair')
    .explain(
      'Fix what `check` finds: the histories decide where alerts are, the highest revision of an account decides what its keys may do.',
      'repair --account 42',
      'repair --account 42 --write',
    )
    .option(...accountOption)
    .option('--write', 'write the repairs (default: only show them)')
    .option(...jsonOption)
    .runs('if --write', repairFindings);
}

async function repairFindings(session: WritingSession<Options>): Promise<void> {
  const { io, table, audit, dryRun } = session;
  const findings = await printFindings(session);
  if (findings.length === 0) return;
  const repairable = findings.filter(isRepairable);
  const all = countText(findings.length, 'finding');
  if (dryRun) return say(io, `${repairable.length} of ${all} would be repaired.`);
  const progress = startProgress(io, 'repair', repairable.length);
  const accounts = new Set(repairable.map(({ account }) => account));
  const { fixed, left } = await audit
    .around([...accounts], countText(repairable.length, 'finding'), () => repair(table, findings, progress.add))
    .finally(progress.end);
  say(io, `${fixed} of ${all} repaired.`);
  if (left.length > 0)
    throw new CliError('The others have changed meanwhile or cannot be repaired automatically: run `check` again.');
}

/** Runs a check and prints its findings: as text while they are found, or as JSON at the end. */
async function printFindings({ io, table, options: { account, json } }: Session<Options>): Promise<Finding[]> {
  const all: Finding[] = [];
  const add = (findings: Finding[]) => {
    io.signal.throwIfAborted();
    all.push(...findings);
    if (!json) for (const finding of findings) print(io, textOf(finding));
  };
  if (account === undefined) for await (const findings of checkTable(table, io.now())) add(findings);
  else add(await checkAccount(table, account, io.now()));
  if (json) printJson(io, all.map(jsonOf));
  else if (all.length === 0) print(io, 'No problems found.');
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
  repairable: isRepairable({ fixes }),
});

const isRepairable = ({ fixes }: Pick<Finding, 'fixes'>) => fixes.length > 0;
