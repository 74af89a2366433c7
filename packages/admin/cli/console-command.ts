import { once } from 'node:events';
import { startConsole } from '../console/console.ts';
import type { AdminCommand, Session } from './command.ts';
import { print, say } from './io.ts';
import { isOnThisMachine, type Target, type TargetOptions, targetText } from './target.ts';

export function addConsoleCommand(program: AdminCommand): void {
  program
    .command('console')
    .explain(
      'Serve a read-only web page on this machine until Ctrl-C: fleet, merges, account, health',
      'console',
      'console --stack IncidentMonitoringRum --region eu-west-1',
    )
    .reads(async ({ io, target, table, options }: Session<TargetOptions>) => {
      const { address, stop } = await startConsole({
        table,
        target: await locationText(target, options),
        isLocal: isOnThisMachine(target),
        commandOptions: optionsFor(target, options),
        now: io.now,
        url: target.url,
        measure: target.measure,
        ingestQueues: target.ingestQueues,
        deadLetters: async () => target.deadLetters?.(),
        onFailed: (text) => say(io, text),
      });
      print(io, address);
      say(io, 'Open this address in a browser: it works once. Press Ctrl-C to stop.');
      if (!io.signal.aborted) await once(io.signal, 'abort');
      await stop();
    });
}

/** Where the table is, for the header of the console. */
async function locationText(target: Target, { stack }: TargetOptions): Promise<string> {
  if (target.service !== undefined) return `local, ${target.service}`;
  const text = await targetText(target);
  return stack === undefined ? text : `stack ${stack}, ${text}`;
}

/** The options with which another command reaches the same table. */
function optionsFor({ table, endpoint, service }: Target, { stack, region }: TargetOptions): string[] {
  if (service !== undefined) return ['--service', service];
  const options = stack === undefined ? ['--table', table.name] : ['--stack', stack];
  if (endpoint !== undefined)
    options.push('--endpoint', endpoint.hasCredentials ? 'ADDRESS-WITH-CREDENTIALS' : endpoint.url);
  else if (region !== undefined) options.push('--region', region);
  return options;
}
