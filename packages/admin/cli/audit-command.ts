import { readAudit } from '../accounts/audit-rows.ts';
import { timeText } from '../text/printable.ts';
import { duration } from './arguments.ts';
import type { AccountOptions, AdminCommand, Session } from './command.ts';
import { recordsTable } from './output.ts';

export function addAuditCommand(program: AdminCommand): void {
  program
    .command('audit')
    .explain(
      'Show what operators did to an account: who, when, which command, and how it ended. Kept for 400 days.',
      'audit --account 42 --since 7d',
    )
    .ofAccount()
    .readsErased()
    .optionWithDefault('--since <duration>', 'how far to look back', duration, '7d')
    .shows(async ({ io, table, options: { account, since } }: Session<AccountOptions & { since: number }>) => {
      const entries = await readAudit(table, account, Math.max(0, io.now() - since));
      const records = entries.map(({ at_ms, ...entry }) => ({
        time: timeText(at_ms),
        // What is left of a row that somebody has replaced.
        ...{ by: '', command: 'not an entry', target: '', result: '', detail: '' },
        ...entry,
      }));
      return {
        json: entries,
        ifEmpty: entries.length === 0 && `Account ${account} has no audit entries in that time.`,
        text: (width) => recordsTable(records, ['time', 'by', 'command', 'target', 'result', 'detail'], width),
      };
    });
}
