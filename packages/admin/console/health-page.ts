/** The page of what needs an operator: pending merges, dead letters, and the findings of a check. */
import { checkAccount } from '../check/check.ts';
import { FINDINGS, type Finding } from '../check/finding.ts';
import { readMergeProgress } from '../incidents/pending-merges.ts';
import { PENDING_MERGES } from '../tables/merges.ts';
import { countText, timeText } from '../text/printable.ts';
import type { Listing } from '../text/table.ts';
import { type Html, html, section } from './html.ts';
import { listing } from './table.ts';
import { command, type View } from './view.ts';

export async function healthPage(view: View): Promise<Html> {
  const { table, account, checks, formToken } = view;
  const id = account.account_id;
  const [pending, deadLetters] = await Promise.all([readMergeProgress(table, id), deadLettersText(view)]);
  const { findings, text } = checks.get(String(id)) ?? { findings: [], text: 'Not run since the console was started.' };
  return html`
${listing(view, PENDING_MERGES, pending)}
${section('Dead letters', html`<p>${deadLetters}</p>`)}
${listing(
  view,
  { ...FINDINGS_LISTED, none: text },
  findings,
  html`<p>It reads all merges, alerts, histories and keys of the account.</p>
<form method="post"><input type="hidden" name="token" value="${formToken}"><p><button>Check now</button></p></form>`,
)}
${findings.length > 0 && html`<p>${text} What a repair would change: ${command(view, `repair --account ${id}`)}</p>`}`;
}

async function deadLettersText(view: View): Promise<string> {
  try {
    const count = await view.deadLetters();
    if (count === undefined) return 'Unknown: the console finds the merge queue only with npm start or --stack.';
    const text = `${countText(count, 'message')} of the merge queue, of all accounts.`;
    return count === 0 ? text : `${text} docs/runbook.md says what to do, at the alarm DeadLetters.`;
  } catch (error) {
    const { name, message } = error as Error;
    return `They cannot be read: ${name}: ${message}`;
  }
}

/** Checks the account, and keeps the result for its page. */
export async function runCheck({ table, account, nowMs, cost, checks }: View): Promise<void> {
  const findings = await checkAccount(table, account.account_id, nowMs);
  const result = findings.length === 0 ? 'no problems found' : countText(findings.length, 'finding');
  const text = `Checked at ${timeText(nowMs)}: ${result}; ${cost()}.`;
  checks.set(String(account.account_id), { findings, text });
}

const FINDINGS_LISTED: Listing<Finding> = {
  title: 'Check',
  columns: [
    { title: 'kind', of: 'kind' },
    { title: 'meaning', of: ({ kind }) => FINDINGS[kind] },
    {
      title: 'about',
      of: ({ ids }) =>
        Object.entries(ids)
          .map(([name, value]) => `${name} ${value}`)
          .join(', '),
    },
    { title: 'detail', of: 'detail' },
    { title: 'repair', of: ({ fixes }) => (fixes.length > 0 ? 'possible' : 'the right state is unknown') },
  ],
  none: '',
};
