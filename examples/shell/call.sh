# What the examples share. Their exit codes are those of docs/api.md.
BASE_URL=${BASE_URL:-http://127.0.0.1:3000}

# refuse_use MESSAGE: ends the example for an argument, an environment variable or a file that is wrong.
refuse_use() {
  echo "$1" >&2
  exit 2
}
[ -n "${APP_KEY:-}" ] || refuse_use 'Set APP_KEY to the app key of an account'

# call PATH BODY [CURL OPTION…]: prints the answer as it came, since jq may round large integers. If the answer has the header Retry-After (429, 503), waits that
# long and retries, at most five times. Fails with the exit code for the example.
call() {
  local path=$1 body=$2 answer head seconds status try verdict
  shift 2
  head=$(mktemp)
  for try in 1 2 3 4 5 6; do
    # The URL contains the key: curl reads it from a file, so that no list of processes shows it.
    answer=$(curl -sS --connect-timeout 5 --max-time 35 -D "$head" -H 'Content-Type: application/json' --data-binary @<(printf %s "$body") "$@" \
      -K <(printf 'url = "%s%s?app_key=%s"\n' "$BASE_URL" "$path" "$(jq -rn --arg key "$APP_KEY" '$key | @uri')")) || {
      status=$?
      rm -f "$head"
      # 1 and 3: BASE_URL is no address. curl has said what is wrong.
      case $status in 1 | 3) return 2 ;; *) return 4 ;; esac
    }
    seconds=$(sed -n 's/^[Rr]etry-[Aa]fter: *\([0-9]*\).*/\1/p' "$head")
    [ -n "$seconds" ] && [ "$try" != 6 ] || break
    echo "trying again in $seconds s" >&2
    sleep "$seconds"
  done
  status=$(sed -n 's/^HTTP[^ ]* \([0-9]*\).*/\1/p' "$head" | tail -n 1)
  rm -f "$head"
  # What others have written must not command the terminal.
  verdict=$(jq -r 'if .error then "\(.error.code): \(.error.message)" | gsub("[\\p{C}\\p{Zl}\\p{Zp}]"; "?") elif has("data") then "ok" else empty end' <<<"$answer" 2>/dev/null) || verdict=
  if [ "$verdict" = ok ]; then
    printf '%s\n' "$answer"
    return
  fi
  echo "${verdict:-$BASE_URL answered $status, and is not this service: check BASE_URL}" >&2
  # After these, a later try may succeed.
  case $status in 429 | 5*) return 4 ;; *) return 1 ;; esac
}
