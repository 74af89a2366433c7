#!/usr/bin/env bash
# Exits with 1 when more than N % of the account's hosts are stale: watch-fleet.sh N
set -euo pipefail
source "$(dirname "$0")/call.sh"

max_percent=${1:?usage: watch-fleet.sh N} hosts=0 stale=0 cursor=
while :; do
  page=$(call /monit/servicemap/fleet "$(jq -n --arg cursor "$cursor" '{limit: 100, $cursor}')")
  hosts=$((hosts + $(jq .data.coverage.returned <<<"$page")))
  stale=$((stale + $(jq .data.coverage.states.stale <<<"$page")))
  cursor=$(jq -r '.data.next_cursor // empty' <<<"$page")
  [ -n "$cursor" ] || break
done
echo "$stale of $hosts hosts are stale"
jq -en --argjson max "$max_percent" "$hosts == 0 or 100 * $stale <= \$max * $hosts" >/dev/null
