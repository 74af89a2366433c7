import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Option } from 'commander';
import { createConsole } from '../console/console.ts';
import { shellWord } from '../text/printable.ts';
import { integer } from './arguments.ts';
import type { AdminCommand, Session } from './command.ts';
import { CliError, print, say } from './io.ts';
import { isOnThisMachine, type Target, type TargetOptions, targetText } from './target.ts';

export function addConsoleCommand(program: AdminCommand): void {
  program
    .command('console')
    .explain(
      'Serve a read-only web page on this machine until Ctrl-C: fleet, merges, account, health',
      'console',
      'console --stack IncidentMonitoringRum --region eu-west-1',
    )
    .addOption(
      new Option('--port <number>', 'port on 127.0.0.1').argParser(integer(0, 65_535)).default(0, 'any free one'),
    )
    .reads(async ({ io, target, table, options }: Session<TargetOptions & { port: number }>) => {
      const location = await locationText(target, options);
      const { listener, signInPath } = createConsole({
        table,
        target: () => location,
        isLocal: isOnThisMachine(target),
        commandOptions: () => optionsFor(target, options),
        now: io.now,
        url: () => target.url,
        measure: async () => target.measure?.(),
        feed: () => target.feed,
        deadLetters: async () => target.deadLetters?.(),
        onFailed: (text) => say(io, text),
      });
      const server = createServer(listener);
      await once(server.listen(options.port, '127.0.0.1'), 'listening').catch((error: NodeJS.ErrnoException) => {
        throw new CliError(`Cannot listen on port ${options.port} (${error.code}): choose another --port.`);
      });
      print(io, `http://127.0.0.1:${(server.address() as AddressInfo).port}${signInPath}`);
      say(io, 'Open this address in a browser: it works once. Press Ctrl-C to stop.');
      if (!io.signal.aborted) await once(io.signal, 'abort');
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    });
}

/** Where the table is, for the header of the console. */
async function locationText(target: Target, { stack }: TargetOptions): Promise<string> {
  if (target.service !== undefined) return `local, ${target.service}`;
  const text = await targetText(target);
  return stack === undefined ? text : `stack ${stack}, ${text}`;
}

/** The options with which another command reaches the same table. */
function optionsFor({ table, endpoint, service }: Target, { stack, region }: TargetOptions): string {
  if (service !== undefined) return `--service ${shellWord(service)}`;
  const options = stack === undefined ? [['--table', table.name]] : [['--stack', stack]];
  if (endpoint !== undefined)
    options.push(['--endpoint', endpoint.hasCredentials ? 'ADDRESS-WITH-CREDENTIALS' : endpoint.url]);
  else if (region !== undefined) options.push(['--region', region]);
  return options.map(([name, value = '']) => `${name} ${shellWord(value)}`).join(' ');
}
