import { parseArgs } from 'node:util';

const SUITES = ['units', 'feed', 'fleet', 'merges', 'lambda'] as const;

const USAGE = `Usage: npm run bench -- [${SUITES.join('|')}]… [--against REV]`;

/** Wrong use of the command: exit code 2. */
export class UsageError extends Error {
  constructor(problem: string) {
    super(`${problem}\n${USAGE}`);
  }
}

/** @throws UsageError */
export function readArguments(args: readonly string[]) {
  const { values, positionals } = parsed(args);
  const unknown = positionals.filter((name) => !SUITES.some((suite) => suite === name));
  if (unknown.length > 0) throw new UsageError(`There is no benchmark ${unknown.join(', ')}.`);
  return {
    /** The revision to compare with. */
    against: values.against,
    suites: SUITES.filter((name) => positionals.length === 0 || positionals.includes(name)),
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: { against: { type: 'string' } }, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0] as string);
  }
}
