#!/usr/bin/env bash
# Exits with 3 when more than N % of the account's hosts are stale: watch-fleet.sh N
set -euo pipefail
source "$(dirname "$0")/call.sh"

[[ ${1:-} =~ ^[0-9]+(\.[0-9]+)?$ ]] && jq -en "$1 <= 100" >/dev/null || refuse_use 'Usage: watch-fleet.sh N, with N from 0 to 100'
max_percent=$1 hosts=0 stale=0 cursor=
while :; do
  page=$(call /monit/servicemap/fleet "$(jq -n --arg cursor "$cursor" '{limit: 100, $cursor}')")
  hosts=$((hosts + $(jq .data.coverage.returned <<<"$page")))
  stale=$((stale + $(jq .data.coverage.states.stale <<<"$page")))
  cursor=$(jq -r '.data.next_cursor // empty' <<<"$page")
  [ -n "$cursor" ] || break
done
echo "$stale of $hosts hosts are stale"
jq -en "$hosts == 0 or 100 * $stale <= $max_percent * $hosts" >/dev/null || exit 3
