#!/usr/bin/env bash
# Merges the alerts that a file lists, one id a line, into an incident: merge-from-file.sh INCIDENT FILE
# Run it again after a failure: it sends the merge with the same idempotency key, so nothing is merged twice.
set -euo pipefail
source "$(dirname "$0")/call.sh"

[ $# -eq 2 ] || refuse_use 'Usage: merge-from-file.sh INCIDENT FILE'
incident=$1 file=$2
[ -r "$file" ] && [ ! -d "$file" ] || refuse_use "Cannot read $file"
# Each id once, whatever its letter case, as the service counts them; compact, since the service bounds the bytes of a body.
body=$(jq -Rr 'scan("[^\\s\ufeff]+")' "$file" | awk '!seen[tolower($0)]++' |
  jq -Rcn --arg incident "$incident" '{alert_ids: [inputs], incident_id: $incident}')
[ "$(jq '.alert_ids | length' <<<"$body")" -gt 0 ] || refuse_use "$file lists no ids"
# The idempotency key is stored before the merge is sent.
[ -s "$file.key" ] || od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$file.key" || refuse_use "Cannot write $file.key"
call /alert/merge "$body" -H "Idempotency-Key: $(cat "$file.key")" >/dev/null
rm "$file.key"
jq -r '.alert_ids | length | "\(.) alert\(if . == 1 then "" else "s" end) merged"' <<<"$body"
