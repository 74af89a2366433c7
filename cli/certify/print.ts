/** The certificate as text. */
import { type Result, VERDICTS, type Verdict } from './run.ts';
import type { Section } from './sentence.ts';

const MOST_CALLS = 5;

const WIDTH = 'not shown'.length;

function resultText({ number, text, verdict, reason, calls }: Result): string {
  const indent = ' '.repeat(WIDTH + 12);
  const shown = calls.slice(0, MOST_CALLS);
  if (calls.length > MOST_CALLS) shown.push(`and ${calls.length - MOST_CALLS} more calls`);
  return [
    `  ${number.padEnd(7)} ${verdict.padEnd(WIDTH)}  ${text}`,
    ...(reason === undefined ? [] : [`${indent}${reason}`]),
    ...shown.map((line) => `${indent}${line}`),
  ].join('\n');
}

export const sectionText = ({ number, heading }: Section, results: readonly Result[]): string =>
  [`${number} ${heading}`, ...results.map(resultText), ''].join('\n');

/** Only what was shown, without the calls; undefined when nothing was. */
export function briefText({ number, heading }: Section, results: readonly Result[]): string | undefined {
  const shown = results.filter(({ verdict }) => verdict === 'ok' || verdict === 'FAILED');
  if (shown.length === 0) return undefined;
  return [`${number} ${heading}`, ...shown.map((result) => resultText({ ...result, calls: [] }))].join('\n');
}

export function summaryText(results: readonly Result[], seconds: number): string {
  const count = (verdict: Verdict) => results.filter((result) => result.verdict === verdict).length;
  const sent = results.reduce((sum, result) => sum + result.sent, 0);
  const counts = VERDICTS.map((verdict) => `${count(verdict)} ${verdict.toLowerCase()}`);
  return `${results.length} sentences: ${counts.join(', ')}. ${sent} calls in ${seconds.toFixed(0)} s.`;
}
