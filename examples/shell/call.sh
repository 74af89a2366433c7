# call PATH BODY [CURL OPTION…]: prints the answer as it came, since jq may round large integers. If the answer has the header Retry-After (429, 503), waits that
# long and retries, at most five times.
BASE_URL=${BASE_URL:-http://127.0.0.1:3000}
: "${APP_KEY:?set APP_KEY to the app key of an account}"

call() {
  local path=$1 body=$2 answer head seconds try
  shift 2
  head=$(mktemp)
  for try in 1 2 3 4 5 6; do
    # The URL contains the key: curl reads it from a file, so that no list of processes shows it.
    answer=$(curl -sS -D "$head" -H 'Content-Type: application/json' --data-binary @<(printf %s "$body") "$@" \
      -K <(printf 'url = "%s%s?app_key=%s"\n' "$BASE_URL" "$path" "$(jq -rn --arg key "$APP_KEY" '$key | @uri')")) || break
    seconds=$(sed -n 's/^[Rr]etry-[Aa]fter: *\([0-9]*\).*/\1/p' "$head")
    if [ -z "$seconds" ] || [ "$try" = 6 ]; then
      rm -f "$head"
      jq -e 'if .error then error("\(.error.code): \(.error.message)") else true end' <<<"$answer" >/dev/null || return
      printf '%s\n' "$answer"
      return
    fi
    echo "waiting $seconds s" >&2
    sleep "$seconds"
  done
  rm -f "$head"
  return 1
}
