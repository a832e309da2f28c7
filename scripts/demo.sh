#!/usr/bin/env bash
# Runs a demo of the provider with Terraform or OpenTofu and a simulated service:
#
#   scripts/demo.sh [CLI]
#
# KEEP=1 leaves the service running. All files are in a temporary directory, which is removed at the end.
set -euo pipefail

lifetime=15 # of a link, in seconds

cli=$(command -v "${1:-terraform}") || {
  echo "demo: ${1:-terraform} is not on PATH. Install Terraform or OpenTofu, or run: make demo TF=path" >&2
  exit 1
}
case $cli in /*) ;; *) cli=$PWD/$cli ;; esac
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)

clean_up() {
  kill $(jobs -p) 2>/dev/null || true
  wait
  rm -rf "$scratch"
}
trap clean_up EXIT

step() { printf '\n=== %s\n\n' "$1"; }

fail() {
  echo "demo: $1" >&2
  exit 1
}

step 'Build the provider and the simulated service (the first time, this takes minutes)'
make --silent install PLUGINS="$scratch/plugins" >/dev/null
go build -o "$scratch/simulator" ./internal/simulator/cmd/simulator
mkdir "$scratch/quickstart"
cp examples/quickstart/*.tf "$scratch/quickstart"
SECONDS=0 # the builds don't count

unset "${!TF_@}" "${!DOCS_@}" # the caller's settings
export TF_CLI_CONFIG_FILE=/dev/null CHECKPOINT_DISABLE=1
[ -t 1 ] || export TF_CLI_ARGS=-no-color
tf=("$cli" "-chdir=$scratch/quickstart")
mkfifo "$scratch/settings"
"$scratch/simulator" -address 127.0.0.1:0 -log -queue 1s -job-duration 5s -link-lifetime "${lifetime}s" </dev/null >"$scratch/settings" &
{ read -r base_url && read -r api_key; } <"$scratch/settings" || fail 'the simulator did not start'
eval "$base_url; $api_key"
"${tf[@]}" init -input=false -plugin-dir="$scratch/plugins" >"$scratch/init.log" 2>&1 || {
  cat "$scratch/init.log" >&2
  fail 'init failed'
}

step 'Export the site after a successful update'
"${tf[@]}" apply -input=false -auto-approve
expires_at=$("${tf[@]}" output -raw expires_at)

step 'Plan again: nothing to do'
"${tf[@]}" plan -input=false -detailed-exitcode || fail 'the second plan is not empty'

step "Wait $lifetime s for the link to expire, then renew it in place"
sleep "$lifetime"
"${tf[@]}" apply -input=false -auto-approve
[ "$("${tf[@]}" output -raw expires_at)" != "$expires_at" ] || fail 'the link was not renewed'

step 'Apply with a failed update: the gate stops the apply, and nothing is exported'
! "${tf[@]}" apply -input=false -auto-approve -var status_id=upd_failure || fail 'the gate did not stop the apply'

printf '\nDone in %d s.\n' "$SECONDS"
if [ -n "${KEEP:-}" ]; then
  trap 'exit 0' INT
  cat <<EOF

# The service runs until you press Ctrl-C. To continue by hand, paste this into another terminal:
cd '$scratch/quickstart'
export DOCS_BASE_URL='$DOCS_BASE_URL' DOCS_API_KEY='$DOCS_API_KEY'
'$cli' plan
EOF
  wait
fi
