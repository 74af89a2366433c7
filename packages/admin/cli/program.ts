import type { AddHelpTextContext } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { addAccountCommands } from './accounts-command.ts';
import { addAlertCommands } from './alert-command.ts';
import { addAppKeyCommands } from './app-keys-command.ts';
import { addAuditCommand } from './audit-command.ts';
import { addCheckCommands } from './check-command.ts';
import { AdminCommand } from './command.ts';
import { failureOf } from './command-errors.ts';
import { addConsoleCommand } from './console-command.ts';
import { addDataCommands } from './data-command.ts';
import { addFailoverCommand } from './failover-command.ts';
import { addFeedCommands } from './feed-command.ts';
import { addFindCommand } from './find-command.ts';
import { addGatewayKeysCommands } from './gateway-keys-command.ts';
import { addHostCommands } from './host-command.ts';
import { type Io, say } from './io.ts';
import { addMergeCommands } from './merges-command.ts';
import { addPreflightCommand } from './preflight-command.ts';
import { addRelayCommands } from './relay-command.ts';
import { addRestoreCommands } from './restore-command.ts';
import { addShowCommands } from './show-command.ts';
import { addStatusCommand } from './status-command.ts';

export function createProgram(io: Io): AdminCommand {
  const program = new AdminCommand(io, 'npm run --silent admin --')
    .version(manifest.version, '--version', 'show the version')
    .option('--stack <name>', 'use the table of a deployed stack')
    .option('--table <name>', 'use a table by its name')
    .option('--region <region>', 'region of the stack or table (default: AWS_REGION)')
    .option('--endpoint <url>', 'URL of a DynamoDB-compatible server (default: DYNAMODB_ENDPOINT)')
    .option('--service <url>', 'URL of the `npm start` service to use if several are running (default: SERVICE_URL)')
    .option('--yes', 'write to AWS or another machine without confirmation')
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 100,
    })
    .exitOverride()
    .addHelpText('beforeAll', refuseUnknownCommand)
    .explain(
      'Manage accounts, keys and data, and undo mistakes, on the service that `npm start` runs or on a deployed stack (--stack).',
      'account create 42 --name "Acme" --permission monit',
      'show fleet --account 42 --stack IncidentMonitoringRum --region eu-west-1',
    );
  addAccountCommands(program);
  addAppKeyCommands(program);
  addGatewayKeysCommands(program);
  addDataCommands(program);
  addStatusCommand(program);
  addFindCommand(program);
  addShowCommands(program);
  addRestoreCommands(program);
  addMergeCommands(program);
  addCheckCommands(program);
  addHostCommands(program);
  addAlertCommands(program);
  addFeedCommands(program);
  addRelayCommands(program);
  addFailoverCommand(program);
  addAuditCommand(program);
  addConsoleCommand(program);
  addPreflightCommand(program, io);
  return program;
}

/** Commander prints the help of a group for an unknown command in it, if `--help` follows. */
function refuseUnknownCommand({ command, error }: AddHelpTextContext): string {
  const name = command.args.find((word) => word !== 'help') ?? '';
  if (!error && command.commands.length > 0 && /^[^-]/.test(name)) command.error(`error: unknown command '${name}'`);
  return '';
}

/** Runs a command line. @returns the exit code */
export async function runAdmin(args: readonly string[], io: Io): Promise<number> {
  try {
    await createProgram(io).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    const { line, exitCode } = failureOf(error, io.signal.aborted);
    if (line !== '') say(io, line);
    return exitCode;
  }
}
