/** Shell completion of the admin command. The printed scripts call `complete` at each press of Tab. */
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
    .explain('Print a script by which a shell completes the function `admin` of docs/operate.md', 'completion bash')
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .action((shell: string) => {
      // The scripts run Node directly, since npm would take twice as long.
      const runAdmin = [process.execPath, fileURLToPath(new URL('./admin.ts', import.meta.url))].map(shellWord);
      new RootCommand().setup(NAME, runAdmin.join(' '), shell);
    });

  // The library's scripts call the program with this word.
  program
    .command('complete', { hidden: true })
    .explain('Print the completions of a command line, for the scripts of `completion`', 'complete -- show fl')
    .argument('[words...]', 'the words up to the cursor')
    .action((words: string[]) => completionOf(program).parse([...words]));
}

/** The commands and options as the library of completion needs them. */
function completionOf(program: Command): RootCommand {
  const root = new RootCommand();
  const add = (command: Command, words: readonly string[]) => {
    const added = words.length === 0 ? root : root.command(words.join(' '), command.description());
    for (const { long, description, required, optional, argChoices = [] } of [...command.options, ...program.options]) {
      if (!long) continue;
      // The library takes an option without a function of choices for one that has no value.
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
