#!/usr/bin/env bash
# Lists the stale hosts of the account as CSV. Every text is quoted. A value that a spreadsheet would take for a
# formula gets a leading apostrophe. Characters that can command a terminal or hide text, and blanks other than the
# ordinary one, become question marks.
set -euo pipefail
source "$(dirname "$0")/call.sh"

echo 'host_id,edge_cluster,agent_version,max_age_ms'
cursor=
while :; do
  page=$(call /monit/servicemap/fleet "$(jq -n --arg cursor "$cursor" '{limit: 100, statuses: ["stale"], $cursor}')")
  jq -r 'def safe: if type == "number" and . > 9007199254740991 then error("\(.) is rounded") elif type == "string" then gsub("(?! )[\\p{C}\\p{Z}\\p{Default_Ignorable_Code_Point}\\x{2800}]"; "?") | sub("^(?<first>[=+@-])"; "\u0027\(.first)") else . end;
    .data.items[] | [.host_id, .edge_cluster, .agent_version, .servicemap.max_age_ms] | map(safe) | @csv' <<<"$page" || exit 1
  cursor=$(jq -r '.data.next_cursor // empty' <<<"$page")
  [ -n "$cursor" ] || break
done
