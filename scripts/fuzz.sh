#!/usr/bin/env bash
# Runs every fuzz test of the module, one after another, for FUZZTIME each (20s, or a count such
# as 10000x).
set -eu
cd "$(dirname "$0")/.."

found=$(git ls-files -z --cached --others --exclude-standard '*_test.go' |
  xargs -0 grep -HoE '^func Fuzz[A-Za-z0-9_]+' || true)
[ -n "$found" ] || { echo 'no fuzz test found' >&2; exit 1; }

while IFS=: read -r file func; do
  name=${func#func }
  package=./$(dirname "$file")
  printf '\n=== %s in %s\n' "$name" "$package"
  go test -run '^$' -fuzz "^$name\$" -fuzztime "${FUZZTIME:-20s}" -fuzzminimizetime 1s "$package"
done <<<"$found"
