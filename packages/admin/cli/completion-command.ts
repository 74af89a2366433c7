/** Shell completion of the admin command: the scripts call this program at each press of Tab. */
import { fileURLToPath } from 'node:url';
import { RootCommand } from '@bomb.sh/tab';
import { Argument, type Command } from 'commander';
import { shellWord } from '../text/printable.ts';
import type { AdminCommand } from './command.ts';

const SHELLS = ['bash', 'zsh', 'fish'];
/** The function that users define for `npm run --silent admin --`. */
const NAME = 'admin';

export function addCompletionCommands(program: AdminCommand): void {
  program
    .command('completion')
    .explain(
      'Print a script that completes `admin` in a shell, a function for this command: see docs/operate.md',
      'completion bash',
    )
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .action((shell: string) => {
      // Not through npm, which would take twice as long.
      const own = [process.execPath, fileURLToPath(new URL('./admin.ts', import.meta.url))].map(shellWord);
      new RootCommand().setup(NAME, own.join(' '), shell);
    });

  // The scripts call it by this name.
  program
    .command('complete', { hidden: true })
    .explain('Print what can stand at the cursor, for the scripts of `completion`', 'complete -- show fl')
    .argument('[words...]', 'the words before the cursor, and its own')
    .action((words: string[]) => completionOf(program).parse([...words]));
}

/** The library's tree of commands. */
function completionOf(program: Command): RootCommand {
  const root = new RootCommand();
  const add = (command: Command, words: readonly string[]) => {
    const added = words.length === 0 ? root : root.command(words.join(' '), command.description());
    for (const { long, description, required, optional, argChoices = [] } of [...command.options, ...program.options]) {
      if (!long) continue;
      // An option without such a function takes no value.
      if (required || optional) added.option(long.slice(2), description, choicesOf(argChoices));
      else added.option(long.slice(2), description);
    }
    for (const { argChoices = [], variadic } of command.registeredArguments)
      added.argument('value', choicesOf(argChoices), variadic);
    for (const inner of command.createHelp().visibleCommands(command))
      if (inner.name() !== 'help') add(inner, [...words, inner.name()]);
  };
  add(program, []);
  return root;
}

const choicesOf = (choices: readonly string[]) => (complete: (value: string, text: string) => void) => {
  for (const choice of choices) complete(choice, '');
};
