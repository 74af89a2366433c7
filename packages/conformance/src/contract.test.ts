/** Each sentence of the contract is a test; what cannot be shown is skipped with the reason. */
import { afterAll, beforeAll, describe, inject, it, type TestContext } from 'vitest';
import { openLab } from './deployment.ts';
import type { Lab } from './lab.ts';
import { Skipped } from './outcome.ts';
import { sentencesOf } from './sections/index.ts';
import { createTrial, type Pages } from './trial.ts';

export interface Target {
  /** Absent: a local service is started. */
  url?: string;
  run?: string;
  only?: string[];
}

declare module 'vitest' {
  interface ProvidedContext {
    target: Target;
  }
  interface TaskMeta {
    sent?: number;
  }
}

const { url, run, only } = inject('target');
const pages: Pages = new Map();
let lab: Lab;
let stop = async () => {};

beforeAll(async () => {
  if (url !== undefined) lab = await openLab(url, run, process.env);
  else ({ lab, stop } = await (await import('./local.ts')).startLab()); // Loads the CDK, which takes half a second.
});
afterAll(() => stop());

const MAX_CALLS = 5;

async function show({ sentence }: Numbered, { skip, task }: TestContext): Promise<void> {
  if ('open' in sentence) return skip(sentence.open);
  const trial = createTrial(lab, pages);
  try {
    await sentence.check(trial);
  } catch (error) {
    // A service of its own can show every rule that can be shown.
    if (error instanceof Skipped && url !== undefined) skip(error.message);
    const { message } = error as Error;
    throw new Error([message, ...trial.lines.slice(-MAX_CALLS)].join('\n  '), { cause: error });
  } finally {
    task.meta.sent = trial.sent();
  }
}

const sections = sentencesOf(only);
type Numbered = (typeof sections)[number]['sentences'][number];
/** Whether a sentence is tested last, since it uses up the rate limit of the only account. */
const isLast = ({ sentence }: Numbered) => url !== undefined && 'slow' in sentence;
const test = (one: Numbered) => it(`${one.number} ${one.sentence.text}`, (context) => show(one, context));

for (const { section, sentences } of sections) {
  const others = sentences.filter((one) => !isLast(one));
  if (others.length > 0) describe.concurrent(`${section.number} ${section.heading}`, () => others.forEach(test));
}
const last = sections.flatMap(({ sentences }) => sentences.filter(isLast));
if (last.length > 0) describe('After all others', () => last.forEach(test));
