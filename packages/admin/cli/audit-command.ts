import { readAudit } from '../accounts/audit-rows.ts';
import { AUDIT } from '../tables/accounts.ts';
import { tableOf } from '../text/table.ts';
import { duration } from './arguments.ts';
import type { AccountOptions, AdminCommand, Session } from './command.ts';

export function addAuditCommand(program: AdminCommand): void {
  program
    .command('audit')
    .explain(
      'Show what operators did to an account: who, when, which command, and how it ended. Kept for 400 days.',
      'audit --account 42 --since 7d',
    )
    .ofAccount()
    .allows('erased accounts')
    .optionWithDefault('--since <duration>', 'how far to look back', duration, '7d')
    .shows(async ({ io, table, options: { account, since } }: Session<AccountOptions & { since: number }>) => {
      const entries = await readAudit(table, account, Math.max(0, io.now() - since));
      return { json: entries, show: tableOf(AUDIT, entries) };
    });
}
