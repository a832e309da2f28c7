#!/usr/bin/env bash
# coverage.sh PROFILE MINIMUM PACKAGE... prints how much of each package PROFILE covers. Fails if
# a package is below MINIMUM percent. PACKAGE is a directory in this module.
set -eu
profile=$1 minimum=$2
shift 2
module=$(go list -m)

for package in "$@"; do
  # A line of the profile is "module/dir/file.go:from,to statements count".
  awk -v dir="$module/$package/" -v name="$package" -v minimum="$minimum" '
    index($1, dir) == 1 && substr($1, length(dir) + 1) !~ "/" { all += $2; if ($3) covered += $2 }
    END {
      percent = all ? 100 * covered / all : 0
      printf "%-30s %5.1f %% of %d statements\n", name, percent, all
      exit percent < minimum
    }' "$profile" || low=1
done
[ -z "${low-}" ] || { echo "Coverage is below $minimum %." >&2; exit 1; }
