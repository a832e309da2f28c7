#!/usr/bin/env bash
# coverage.sh PROFILE MINIMUM PACKAGE... prints the share of statements that PROFILE shows as
# covered in each PACKAGE (a path in this module) and fails where it is under MINIMUM per cent.
set -eu
profile=$1 minimum=$2
shift 2
[ -s "$profile" ] || { echo "$profile is missing: run 'make test' first" >&2; exit 1; }

# A line of a profile is "module/dir/file.go:from,to statements count". A block stands there once
# for every test binary that was built with it.
awk -v minimum="$minimum" -v packages="$*" -v module="$(go list -m)" '
  NR > 1 {
    statements[$1] = $2
    if ($3 > 0) hit[$1] = 1
  }
  END {
    for (block in statements) {
      dir = block
      sub(/\/[^\/]*$/, "", dir)
      total[dir] += statements[block]
      if (block in hit) covered[dir] += statements[block]
    }
    n = split(packages, wanted, " ")
    for (i = 1; i <= n; i++) {
      dir = module "/" wanted[i]
      share = total[dir] ? 100 * covered[dir] / total[dir] : 0
      low = share < minimum
      failed = failed || low
      printf "%-20s %5.1f %% of %d statements%s\n", wanted[i], share, total[dir], low ? ", under " minimum " %" : ""
    }
    exit failed
  }' "$profile"
