/** The page of open alerts. */
import { SEVERITIES, type Severity } from '../../../lib/model/alert.ts';
import { countOpenAlerts, listOpenAlerts } from '../incidents/alerts.ts';
import { openAlerts } from '../tables/alerts.ts';
import { type Html, href, html, moreLink } from './html.ts';
import { listing } from './table.ts';
import { command, type View } from './view.ts';

const ALERTS_LISTED = 50;
/** Open alerts that are counted in each partition of the index, which has few for each severity. */
const COUNTED = 1_000;

export async function alertsPage(view: View): Promise<Html> {
  const { table, account, query } = view;
  const id = account.account_id;
  const severity = SEVERITIES.find((each) => each === query.severity);
  const [{ items, next }, counts] = await Promise.all([
    listOpenAlerts(table, id, { severity, limit: ALERTS_LISTED, after: query.after }),
    countOpenAlerts(table, id, COUNTED),
  ]);
  const chips = counts
    .filter(({ count }) => count > 0)
    .map(({ severity: name, count, isMore }) => {
      const isOn = name === severity;
      const address = href([id, 'alerts'], { severity: isOn ? undefined : name });
      return html`<a class="chip ${severityClass(name)}" href="${address}"${isOn && html` aria-current="true"`}>${count.toLocaleString('en')}${isMore && '+'} ${name}</a> `;
    });
  const options = [`--account=${id}`, ...(severity ? [`--severity=${severity}`] : [])];
  return html`
<p class="headline"><strong>Open</strong> ${chips}</p>
${listing(view, openAlerts(severity), items)}
${moreLink(next && href([id, 'alerts'], { severity, after: next }), 'Next alerts')}
<section><details><summary>Command for these alerts</summary><p>${command(view, 'alert list', { options })}</p></details></section>`;
}

const severityClass = (severity: Severity) => severity.toLowerCase();
