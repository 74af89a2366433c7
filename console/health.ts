/** What needs an operator: merges that are not finished, dead letters, and what a check finds. */
import { checkAccount } from '../lib/check/check.ts';
import { FINDINGS } from '../lib/check/finding.ts';
import { readMergeOrder } from '../lib/incidents/merge-order.ts';
import { timeText } from '../lib/time-text.ts';
import { command, count, type Html, href, html, link, section, when } from './html.ts';
import type { View } from './view.ts';

export async function healthPage(view: View): Promise<Html> {
  const { table, account, nowMs, commandLine } = view;
  const id = account.account_id;
  const { pending = [] } = await readMergeOrder(table, id);
  const letters = view.deadLetters();
  const rows = pending.map(({ sequence, incidentId }) => [
    sequence,
    when(sequence, nowMs),
    link(href([id, 'incident', incidentId]), incidentId),
    command(commandLine(`merge finish ${incidentId} ${sequence} --account ${id}`)),
  ]);
  return html`
${section('Pending merges', { head: ['entry', 'since about', 'incident', 'how to finish it'], rows, none: 'None: every merge is finished.' })}
<h2>Dead letters</h2>
<p>${
    letters === undefined
      ? 'This process does not see the merge queue. On AWS the alarm DeadLetters tells of them; of npm start, the page that it serves itself.'
      : `${count(letters, 'message')} of the merge queue, of all accounts.`
  }</p>
${
  view.query.check === 'now'
    ? await check(view)
    : html`<h2>Check</h2><p>It reads all merges, alerts, feeds and keys of the account. ${link(href([id, 'health'], { check: 'now' }), 'Check now')}</p>`
}`;
}

async function check({ table, account, nowMs, cost, commandLine }: View): Promise<Html> {
  const findings = await checkAccount(table, account.account_id, nowMs);
  const rows = findings.map(({ kind, ids, detail, fixes }) => {
    const about = Object.entries(ids).map(([name, value]) => `${name} ${value}`);
    return [
      kind,
      FINDINGS[kind],
      about.join(', '),
      detail,
      fixes.length > 0 ? 'possible' : 'the right state is unknown',
    ];
  });
  const head = ['kind', 'meaning', 'about', 'detail', 'repair'];
  const note = html`<p>Checked at ${timeText(nowMs)}: ${count(findings.length, 'finding')}; ${cost()}.</p>`;
  const repair = command(commandLine(`repair --account ${account.account_id}`));
  return html`${section('Check', { head, rows, none: 'No problems found.' }, note)}
${rows.length > 0 && html`<p>What a repair would change: ${repair}</p>`}`;
}
