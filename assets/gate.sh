#!/usr/bin/env bash
# Applies a gate whose update fails, on the simulator. `make recordings` records it.
set -eu
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

make --silent install PLUGINS="$scratch/plugins" >/dev/null
go build -o "$scratch/simulator" ./internal/simulator/cmd/simulator
coproc "$scratch/simulator" -address 127.0.0.1:0 2>/dev/null
trap 'kill "$COPROC_PID"; rm -rf "$scratch"' EXIT
eval "$(head -n 2 <&"${COPROC[0]}")"
export TF_CLI_CONFIG_FILE=/dev/null CHECKPOINT_DISABLE=1

cp examples/resources/docs_update_gate/resource.tf "$scratch"
cd "$scratch"
cat >versions.tf <<'HCL'
terraform {
  required_providers {
    docs = { source = "docs-hosting/docs" }
  }
}
HCL
terraform init -plugin-dir="$scratch/plugins" >/dev/null

clear
echo '$ terraform apply -auto-approve -var status_id=upd_failure'
# Leaves out the plan.
terraform apply -auto-approve -var status_id=upd_failure 2>&1 | sed -n '/: Creating/,$p' || true
