#!/usr/bin/env bash
# Merges the alerts that a file lists, one id a line, into an incident: merge-from-file.sh INCIDENT FILE
# Run it again after a failure: it sends the merge with the same idempotency key, so nothing is merged twice.
set -euo pipefail
source "$(dirname "$0")/call.sh"

incident=${1:?usage: merge-from-file.sh INCIDENT FILE} file=${2:?usage: merge-from-file.sh INCIDENT FILE}
# The idempotency key is stored before the merge is sent.
[ -s "$file.key" ] || od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$file.key"
body=$(jq -Rn --arg incident "$incident" '{alert_ids: [inputs | scan("[^\\s\ufeff]+")], incident_id: $incident}' "$file")
call /alert/merge "$body" -H "Idempotency-Key: $(cat "$file.key")" >/dev/null
rm "$file.key"
echo "$(jq '.alert_ids | length' <<<"$body") alerts merged"
