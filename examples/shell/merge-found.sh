#!/usr/bin/env bash
# Merges the alerts that started in the last hours and have a text in their title or key into the incident that has a
# text in its title, and shows the result: merge-found.sh INCIDENT_TEXT ALERT_TEXT [HOURS], by default 1 hour, at most 743.
# Run it again after a failure: it leaves out the alerts that are in the incident already.
set -euo pipefail
source "$(dirname "$0")/call.sh"

[[ $# -ge 2 && $# -le 3 && -n $1 && -n $2 && ${3:-1} =~ ^[1-9][0-9]{0,2}$ && ${3:-1} -le 743 ]] ||
  refuse_use 'Usage: merge-found.sh INCIDENT_TEXT ALERT_TEXT [HOURS], at most 743 hours'
now=$(date +%s) found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT

# list PATH BODY: prints the items of all pages, one a line.
list() {
  local body=$2 cursor='' page
  while :; do
    page=$(call "$1" "$(jq -c --arg cursor "$cursor" '. + {limit: 100, search_after_ctx: $cursor}' <<<"$body")") || return
    jq -c '.data.items[]' <<<"$page" || return 1
    cursor=$(jq -r '.data.search_after_ctx // empty' <<<"$page")
    [ -n "$cursor" ] || return 0
  done
}
# show FILE FILTER: prints what a filter of jq makes of each item. What others have written must not command the terminal.
show() {
  jq -r "$2 | gsub(\"[\\\\p{C}\\\\p{Zl}\\\\p{Zp}]\"; \"?\")" "$1"
}

list /incident/list "$(jq -n --arg query "$1" '{$query}')" >"$found/incidents"
titles=$(wc -l <"$found/incidents" | tr -d ' ')
if [ "$titles" -ne 1 ]; then
  { echo "The text must be in the title of one incident, and is in $titles" && show "$found/incidents" '"\(.incident_id)  \(.title)"'; } >&2
  exit 1
fi
incident=$(jq -r .incident_id "$found/incidents")
list /alert/list "$(jq -n "{start_time: ($now - 3600 * ${3:-1}), end_time: ($now + 1)}")" |
  jq -c --arg text "$2" --arg incident "$incident" 'select(.incident.incident_id != $incident
    and ("\(.title)\n\(.alert_key)" | ascii_downcase | contains($text | ascii_downcase)))' >"$found/alerts"
if [ ! -s "$found/alerts" ]; then
  echo 'No alert outside the incident has the text' >&2
  exit 1
fi
key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
call /alert/merge "$(jq -sc --arg incident "$incident" '{alert_ids: map(.alert_id), incident_id: $incident}' "$found/alerts")" \
  -H "Idempotency-Key: $key" >/dev/null
# The first hundred, as the service has them now: a large merge moves its alerts within a minute.
list /alert/list "$(jq -sc '{alert_ids: map(.alert_id)[:100]}' "$found/alerts")" >"$found/merged"
show "$found/incidents" "\"$(wc -l <"$found/alerts" | tr -d ' ') merged into \\(.incident_id)  \\(.title)\""
show "$found/merged" '"\(.alert_id)  \(.alert_status)  \(.title)  (incident \(.incident.incident_id))"'
