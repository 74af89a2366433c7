// Lists the stale hosts of the account as CSV: node stale-hosts.mjs > stale.csv
// Every cell is quoted. A value that a spreadsheet would take for a formula gets a leading apostrophe. Characters that can command
// a terminal or hide text, and blanks other than the ordinary one, become question marks.
import { run } from './client.mjs';

/** @param {string | number | undefined} value */
function cell(value = '') {
  const text = String(value)
    .replace(/(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu, '?')
    .replace(/^[=+@-]/, "'$&");
  return `"${text.replaceAll('"', '""')}"`;
}

await run(async (client) => {
  console.log('host_id,edge_cluster,agent_version,max_age_ms');
  for await (const { host_id, edge_cluster, agent_version, servicemap } of client.hosts({ statuses: ['stale'] }))
    console.log([host_id, edge_cluster, agent_version, servicemap.max_age_ms].map(cell).join(','));
});
