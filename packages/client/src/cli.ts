#!/usr/bin/env node
/** The command-line program, made of the client. */
import { EXIT } from './command/exit-codes.ts';
import { FLEET_HELP, fleet } from './command/fleet.ts';
import { alerts, incidents, LISTS_HELP, members } from './command/lists.ts';
import { MERGE_HELP, merge } from './command/merge.ts';
import { callOperation, OPERATIONS_HELP } from './command/operation.ts';
import { endOnOutputError, UsageError } from './command/output.ts';
import { RECORDS_HELP, records } from './command/records.ts';
import { report } from './command/report.ts';
import { COMMANDS } from './types.ts';

const HELP = `Usage: incident-monitoring-rum-client COMMAND [OPTION...]

Commands:
${FLEET_HELP}${LISTS_HELP}${MERGE_HELP}${RECORDS_HELP}
${OPERATIONS_HELP}
  --json                       print JSON, errors too: lists print a line for each item
  --help

Environment:
  APP_KEY                      app key of the account
  BASE_URL                     address of the service (default: http://127.0.0.1:3000)

Exit codes: 0 done, ${EXIT.failed} refused or failed, ${EXIT.wrongUse} wrong use, ${EXIT.unavailable} the service cannot be reached or is busy: try again later,
${EXIT.stopped} Ctrl-C.
Example: APP_KEY=... incident-monitoring-rum-client fleet --status stale --status degraded
`;

/** What each command does with its arguments. */
const commands = new Map<string, (args: string[]) => Promise<void>>([
  ['fleet', fleet],
  ['alerts', alerts],
  ['incidents', incidents],
  ['members', members],
  ['merge', merge],
  ['records', records],
  ...Object.entries(COMMANDS).map(
    ([name, command]) => [name, (args: string[]) => callOperation(command, args)] as const,
  ),
]);

const [command = '--help', ...args] = process.argv.slice(2);
endOnOutputError();
if ([command, ...args].some((arg) => arg === '--help' || arg === '-h')) process.stdout.write(HELP);
else
  try {
    const run = commands.get(command);
    if (run === undefined) throw new UsageError(`unknown command ${command}`);
    await run(args);
  } catch (error) {
    process.exitCode = report(error, args.includes('--json'));
  }
