import { find, HISTORIES_SEARCHED, REQUEST_ID } from '../find/find.ts';
import { FOUND } from '../tables/found.ts';
import { commandText } from '../text/printable.ts';
import { fieldsOf } from '../text/table.ts';
import type { AdminCommand, ReadResult, Session } from './command.ts';
import { CliError } from './io.ts';

export function addFindCommand(program: AdminCommand): void {
  program
    .command('find')
    .explain(
      'Find what an id names, in all accounts: host, alert, incident, work item, app key, account, the key of an alert, or the request_id of a merge',
      'find 64f000000000000000000001',
    )
    .argument('<id>', 'the id, or the key of an alert; of an app key at least its first 8 characters')
    .shows(findId);
}

async function findId({ table }: Session, id: string): Promise<ReadResult> {
  const found = await find(table, id);
  if (found.length === 0) throw new CliError(nothingText(id));
  return {
    json: found.map(({ account, accountName, command, page: _page, ...rest }) => ({
      ...rest,
      account_id: account,
      account_name: accountName,
      command: commandText(command.words, { last: command.idArgument }),
    })),
    show: found.map((each) => fieldsOf(FOUND.columns, each)),
  };
}

const nothingText = (id: string) =>
  REQUEST_ID.test(id)
    ? `No merge has the request_id ${id} among the newest ${HISTORIES_SEARCHED} incidents of each account: the logs have every call.`
    : `No account has anything with the id ${id}. Ids of hosts and work items, and keys of alerts, must match exactly, including case.`;
