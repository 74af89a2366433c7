import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Command, Option } from 'commander';
import { createConsole } from '../console/console.ts';
import { shellWord } from '../lib/shell-word.ts';
import { integer } from './arguments.ts';
import { withHelp, withTarget } from './command.ts';
import { CliError, type Io, print, say } from './io.ts';
import { type Target, type TargetOptions, targetText } from './target.ts';

export function addConsoleCommand(program: Command, io: Io): void {
  withHelp(
    program
      .command('console')
      .addOption(
        new Option('--port <number>', 'port on 127.0.0.1').argParser(integer(0, 65_535)).default(0, 'any free one'),
      ),
    'Serve a read-only web page on this machine until Ctrl-C: fleet, merges, account, health',
    'console',
    'console --stack IncidentMonitoringRum --region eu-west-1',
  ).action(({ port }: { port: number }, command: Command) =>
    withTarget(io, command, 'reads', async ({ target }) => {
      const { listener, entrance } = createConsole({
        table: target.table,
        target: await targetText(target),
        commandOptions: () => optionsFor(target, command.optsWithGlobals<TargetOptions>()),
        now: io.now,
        deadLetters: async () => target.deadLetters?.(),
        onFailed: (text) => say(io, text),
      });
      const server = createServer(listener);
      await once(server.listen(port, '127.0.0.1'), 'listening').catch((error: NodeJS.ErrnoException) => {
        throw new CliError(`Cannot listen on port ${port} (${error.code}): choose another --port.`);
      });
      print(io, `http://127.0.0.1:${(server.address() as AddressInfo).port}${entrance}`);
      say(io, 'Open this address in a browser: it works once. Press Ctrl-C to stop.');
      await new Promise((resolve) => {
        if (io.signal.aborted) resolve(undefined);
        else io.signal.addEventListener('abort', resolve, { once: true });
      });
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }),
  );
}

/** The options by which another command reaches the same table. */
function optionsFor({ table, endpoint }: Target, { stack, region }: TargetOptions): string {
  const options = stack === undefined ? [['--table', table.name]] : [['--stack', stack]];
  if (endpoint !== undefined) options.push(['--endpoint', endpoint]);
  else if (region !== undefined) options.push(['--region', region]);
  return options.map(([name, value = '']) => `${name} ${shellWord(value)}`).join(' ');
}
