/** The page of what needs an operator: pending merges, dead letters, and the findings of a check. */
import { readLogHead } from '../../../lib/operations/merge-alerts/log-head.ts';
import { checkAccount } from '../check/check.ts';
import { FINDINGS } from '../check/finding.ts';
import { countText, timeText } from '../text/printable.ts';
import { type Html, href, html, link, section, tableOf, when } from './html.ts';
import { command, type View } from './view.ts';

export async function healthPage(view: View): Promise<Html> {
  const { table, account, nowMs, checks, formToken } = view;
  const id = account.account_id;
  const [{ pending = [] }, deadLetters] = await Promise.all([readLogHead(table, id), deadLettersText(view)]);
  const { rows, text } = checks.get(String(id)) ?? { rows: [], text: 'Not run since the console was started.' };
  return html`
${section(
  'Pending merges',
  tableOf({
    head: ['entry', 'since about', 'incident', 'how to finish it'],
    rows: pending.map(({ sequence, incidentId }) => [
      String(sequence),
      when(sequence, nowMs),
      link(href([id, 'incident', incidentId]), incidentId),
      command(view, `merge finish ${incidentId} ${sequence} --account ${id}`),
    ]),
    none: 'None: every merge is finished.',
  }),
)}
${section('Dead letters', html`<p>${deadLetters}</p>`)}
${section(
  'Check',
  tableOf({ head: ['kind', 'meaning', 'about', 'detail', 'repair'], rows, none: text }),
  html`<p>It reads all merges, alerts, histories and keys of the account.</p>
<form method="post"><input type="hidden" name="token" value="${formToken}"><button>Check now</button></form>`,
)}
${rows.length > 0 && html`<p>${text} What a repair would change: ${command(view, `repair --account ${id}`)}</p>`}`;
}

async function deadLettersText(view: View): Promise<string> {
  try {
    const count = await view.deadLetters();
    if (count === undefined) return 'Unknown: the console finds the merge queue only with npm start or --stack.';
    const text = `${countText(count, 'message')} of the merge queue, of all accounts.`;
    return count === 0 ? text : `${text} docs/operate.md says what to do, at the alarm DeadLetters.`;
  } catch (error) {
    const { name, message } = error as Error;
    return `They cannot be read: ${name}: ${message}`;
  }
}

/** Checks the account, and keeps the result for its page. */
export async function runCheck({ table, account, nowMs, cost, checks }: View): Promise<void> {
  const findings = await checkAccount(table, account.account_id, nowMs);
  const rows = findings.map(({ kind, ids, detail, fixes }) => {
    const about = Object.entries(ids).map(([name, value]) => `${name} ${value}`);
    const repair = fixes.length > 0 ? 'possible' : 'the right state is unknown';
    return [kind, FINDINGS[kind], about.join(', '), detail, repair];
  });
  const result = rows.length === 0 ? 'no problems found' : countText(rows.length, 'finding');
  checks.set(String(account.account_id), { rows, text: `Checked at ${timeText(nowMs)}: ${result}; ${cost()}.` });
}
