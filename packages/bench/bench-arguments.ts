import { parseArgs } from 'node:util';

const SUITES = ['units', 'import', 'feed', 'fleet', 'overhead', 'merges', 'lambda'] as const;

const USAGE = `Usage: npm run bench -- [${SUITES.join('|')}]… [--against REV [--turns N]]`;

/** Wrong use of the command: exit code 2. */
export class UsageError extends Error {
  constructor(problem: string) {
    super(`${problem}\n${USAGE}`);
  }
}

export interface Arguments {
  suites: readonly string[];
  /** The revision to compare with. */
  against: string | undefined;
  /** How often each side is measured. */
  turns: number;
}

/** @throws UsageError */
export function readArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parsed(args);
  const unknown = positionals.filter((name) => !(SUITES as readonly string[]).includes(name));
  if (unknown.length > 0) throw new UsageError(`There is no benchmark ${unknown.join(', ')}.`);
  if (!/^[1-9]\d?$/.test(values.turns)) throw new UsageError(`--turns must be a number from 1, not "${values.turns}".`);
  return {
    against: values.against,
    turns: Number(values.turns),
    suites: SUITES.filter((name) => positionals.length === 0 || positionals.includes(name)),
  };
}

function parsed(args: readonly string[]) {
  const options = { against: { type: 'string' }, turns: { type: 'string', default: '3' } } as const;
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0] as string);
  }
}
