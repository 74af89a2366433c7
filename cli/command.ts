import type { Command } from 'commander';
import { type Audit, createAudit } from './audit.ts';
import { type Io, say } from './io.ts';
import { callerOf, confirmWrite, connectTarget, type Target, type TargetOptions } from './target.ts';

/** Options of every command, and of all that write. */
type CommonOptions = TargetOptions & { dryRun?: boolean };

/** What an action works with. */
export interface Session {
  readonly io: Io;
  readonly target: Target;
  /** Only says what would be written. */
  readonly dryRun: boolean;
}

/** What an action that writes works with. */
export interface WritingSession extends Session {
  /** Every change goes through it. */
  readonly audit: Audit;
}

/** Runs an action on the target that the options name. One that writes asks for confirmation where required. */
export async function withTarget(
  io: Io,
  command: Command,
  kind: 'reads' | 'writes',
  act: (session: WritingSession) => Promise<void>,
): Promise<void> {
  const options = command.optsWithGlobals<CommonOptions>();
  const target = await connectTarget(options, io.env);
  try {
    const dryRun = options.dryRun ?? false;
    if (kind === 'writes' && dryRun) say(io, 'Dry run: nothing is written.');
    else if (kind === 'writes') await confirmWrite(target, options, io);
    const by = kind === 'writes' && !dryRun ? await callerOf(target) : '';
    await act({ io, target, dryRun, audit: createAudit(target.table, nameOf(command), by, io.now) });
  } finally {
    target.close();
  }
}

/** The words of a command, such as `app-key revoke`. */
const nameOf = (command: Command): string =>
  command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();

/** A command whose help ends with an example. */
export const withHelp = (command: Command, description: string, ...examples: string[]): Command =>
  command
    .description(description)
    .addHelpText(
      'after',
      ['', 'Example:', ...examples.map((line) => `  $ npm run --silent admin -- ${line}`)].join('\n'),
    );

export const dryRunOption = ['--dry-run', 'show what would be written, without writing it'] as const;
export const jsonOption = ['--json', 'print JSON'] as const;
