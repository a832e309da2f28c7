#!/usr/bin/env bash
# Runs every make target named on the command line, whatever became of the ones before it, and ends
# with a summary. Fails if any failed.
set -u

summary=()
failed=0
for target in "$@"; do
  printf '\n=== make %s\n' "$target"
  started=$SECONDS
  if make --no-print-directory "$target"; then
    outcome=ok
  else
    outcome=FAILED
    failed=$((failed + 1))
  fi
  summary+=("$(printf '%-12s %-6s %4d s' "$target" "$outcome" $((SECONDS - started)))")
done

printf '\n=== summary\n'
printf '%s\n' "${summary[@]}"
printf '%d of %d failed\n' "$failed" "$#"
[ "$failed" -eq 0 ]
