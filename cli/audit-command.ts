import { type Command, Option } from 'commander';
import { readAudit } from '../lib/accounts/audit.ts';
import type { Int64 } from '../lib/json.ts';
import { timeText } from '../lib/time-text.ts';
import { requireAccount } from './accounts.ts';
import { accountId, duration } from './arguments.ts';
import { jsonOption, withHelp, withTarget } from './command.ts';
import { type Io, print, printJson, say } from './io.ts';
import { plainTable } from './output.ts';

const DAYS_SHOWN = 7;

export function addAuditCommand(program: Command, io: Io): void {
  withHelp(
    program
      .command('audit')
      .requiredOption('--account <account>', 'the account', accountId)
      .addOption(
        new Option('--since <duration>', 'how far to look back')
          .argParser(duration)
          .default(DAYS_SHOWN * 86_400_000, `${DAYS_SHOWN}d`),
      )
      .option(...jsonOption),
    'Show what operators did to an account: who, when, which command, and how it ended. Kept for 400 days.',
    'audit --account 42 --since 7d',
  ).action(({ account, since, json }: { account: Int64; since: number; json?: boolean }, command: Command) =>
    withTarget(io, command, 'reads', async ({ target: { table } }) => {
      await requireAccount(table, account);
      const entries = await readAudit(table, account, Math.max(0, io.now() - since));
      if (json) return printJson(io, entries);
      if (entries.length === 0) return say(io, `Account ${account} has no audit entries in that time.`);
      const rows = entries.map(({ at_ms, by, command: name, target = '', result, detail = '' }) => [
        ...[timeText(at_ms), by, name, target, result, detail],
      ]);
      print(io, plainTable(rows, ['time', 'by', 'command', 'target', 'result', 'detail']));
    }),
  );
}
