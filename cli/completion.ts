/** Completion of the operator's command in a shell: its scripts ask this program at each press of Tab. */
import { fileURLToPath } from 'node:url';
import { RootCommand } from '@bomb.sh/tab';
import { Argument, type Command } from 'commander';
import { withHelp } from './command.ts';

const SHELLS = ['bash', 'zsh', 'fish'];
/** The function that users define for `npm run --silent admin --`. */
const NAME = 'admin';

export function addCompletionCommands(program: Command): void {
  withHelp(
    program.command('completion').addArgument(new Argument('<shell>', 'your shell').choices(SHELLS)),
    'Print a script that completes `admin` in a shell, a function for this command: see docs/operate.md',
    'completion bash',
  ).action((shell: string) => {
    // Not through npm, which would take twice as long.
    const own = [process.execPath, fileURLToPath(new URL('./admin.ts', import.meta.url))].map((path) => `'${path}'`);
    new RootCommand().setup(NAME, own.join(' '), shell);
  });

  // The scripts call it by this name.
  withHelp(
    program.command('complete', { hidden: true }).argument('[words...]', 'the words before the cursor, and its own'),
    'Print what can stand at the cursor, for the scripts of `completion`',
    'complete -- show fl',
  ).action((words: string[]) => completionOf(program).parse([...words]));
}

/** The tree of commands as the library has it. */
function completionOf(program: Command): RootCommand {
  const root = new RootCommand();
  const add = (command: Command, words: readonly string[]) => {
    const added = words.length === 0 ? root : root.command(words.join(' '), command.description());
    for (const { long, description, required, optional, argChoices = [] } of [...command.options, ...program.options]) {
      if (!long) continue;
      const values = (complete: (value: string, text: string) => void) => {
        for (const choice of argChoices) complete(choice, '');
      };
      // An option without a value is told by having no such function.
      if (required || optional) added.option(long.slice(2), description, values);
      else added.option(long.slice(2), description);
    }
    for (const { argChoices = [], variadic } of command.registeredArguments)
      added.argument(
        'value',
        (complete) => {
          for (const choice of argChoices) complete(choice, '');
        },
        variadic,
      );
    for (const inner of command.createHelp().visibleCommands(command))
      if (inner.name() !== 'help') add(inner, [...words, inner.name()]);
  };
  add(program, []);
  return root;
}
