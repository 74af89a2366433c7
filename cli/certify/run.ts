/** Checks the sentences and reports each result. */
import { forEach } from '../../lib/table/pool.ts';
import { CliError } from '../io.ts';
import type { Lab } from './lab.ts';
import { Broken, Skipped } from './outcome.ts';
import type { Section, Sentence } from './sentence.ts';
import { createTrial, type Pages } from './trial.ts';

export const VERDICTS = ['ok', 'FAILED', 'skipped', 'not shown'] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Result {
  /** Such as `4.1-7`: the seventh sentence of section 4.1. */
  readonly number: string;
  readonly text: string;
  readonly verdict: Verdict;
  /** Why it failed, or is not shown. */
  readonly reason?: string;
  /** The calls and their statuses. */
  readonly calls: readonly string[];
  readonly sent: number;
}

export interface RunOptions {
  /** Numbers of the only sentences, or sections, to show. */
  readonly only?: readonly string[];
  /** Whether slow sentences have callers of their own; otherwise they wait until all others are done. */
  readonly slowAside?: boolean;
  /** Called for each section, in order, as soon as it is done. */
  readonly onSection?: (section: Section, results: readonly Result[]) => void;
}

interface Job {
  readonly number: string;
  readonly sentence: Sentence;
}

/** Sentences that are shown at the same time. */
const LANES = 4;

/** @throws CliError when nothing answers */
export async function certify(
  lab: Lab,
  sections: readonly Section[],
  { only, slowAside = true, onSection = () => {} }: RunOptions = {},
): Promise<Result[]> {
  const pages: Pages = new Map();
  const wanted = ({ number }: Job) => !only || only.some((one) => number === one || number.startsWith(`${one}-`));
  const chosen = sections
    .map((section) => ({
      section,
      jobs: section.sentences
        .map((sentence, index): Job => ({ number: `${section.number}-${index + 1}`, sentence }))
        .filter(wanted),
    }))
    .filter(({ jobs }) => jobs.length > 0);
  const jobs = chosen.flatMap((each) => each.jobs);
  if (jobs.length === 0)
    throw new CliError(`No sentence has the number ${only?.join(' or ')}: pass numbers such as 4.1 or 8-2.`);

  const results = new Map<Job, Result>();
  const resultsOf = (some: readonly Job[]) => some.flatMap((job) => results.get(job) ?? []);
  const show = async (job: Job) => {
    results.set(job, await showSentence(lab, pages, job));
    for (let [first] = chosen; first?.jobs.every((one) => results.has(one)); [first] = chosen) {
      onSection(first.section, resultsOf(first.jobs));
      chosen.shift();
    }
  };
  const inLanes = (queue: readonly Job[], concurrency: number) => forEach(queue, show, { concurrency });
  const slow = jobs.filter(({ sentence }) => 'slow' in sentence);
  const others = jobs.filter((job) => !slow.includes(job));
  await Promise.all([inLanes(others, LANES), ...(slowAside ? [inLanes(slow, slow.length)] : [])]);
  if (!slowAside) await inLanes(slow, 1);
  return resultsOf(jobs);
}

async function showSentence(lab: Lab, pages: Pages, { number, sentence }: Job): Promise<Result> {
  const { text } = sentence;
  if ('open' in sentence) return { number, text, verdict: 'not shown', reason: sentence.open, calls: [], sent: 0 };
  const trial = createTrial(lab, pages);
  const told = (verdict: Verdict, reason?: string): Result => ({
    number,
    text,
    verdict,
    ...(reason !== undefined && { reason }),
    calls: trial.lines,
    sent: trial.sent(),
  });
  try {
    await sentence.check(trial);
    return told('ok');
  } catch (error) {
    if (error instanceof Skipped) return told('skipped', error.message);
    if (error instanceof Broken) return told('FAILED', error.message);
    if (error instanceof CliError) throw error;
    // The answer was so unexpected that the check itself threw.
    return told('FAILED', `the answer cannot be read: ${(error as Error).message}`);
  }
}
