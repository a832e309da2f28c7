#!/bin/sh
# Renews the links in the state that are due. It never starts an export.
# To run OpenTofu, set TF=tofu.
set -eu
tf=${TF:-terraform}
plan=renew.tfplan
names="check that each trigger has the name of the variable it is set from, and that this job sets all other variables."

stop() {
  echo "$1" >&2
  exit 1
}

state=$("$tf" show -json)
exports=$(printf '%s' "$state" | jq '[ .. | objects
  | select(.type? == "docs_static_export" and .mode? == "managed") | .values ]')
if [ "$exports" = "[]" ]; then
  echo "Nothing published yet."
  exit 0
fi
if printf '%s' "$exports" | jq --exit-status 'any(.bundle_url == null)' >/dev/null; then
  stop "The export has no link yet, because its first export or its import did not finish. Rerun the last publish or plan job."
fi

# Plan with the values that the exports were started with: each trigger has the name of its variable.
# Do not wait for an update again.
variables=$(printf '%s' "$exports" | jq --raw-output '.[].triggers // {} | to_entries[]
  | select(.value != null and (.key | test("^\\w+$"))) | @sh "export TF_VAR_\(.key)=\(.value)"')
eval "$variables"
export TF_VAR_gate=false

# A plan that is not applied is deleted, because it contains the link. One that is applied stays
# on the disk of the runner.
trap 'rm -f "$plan"' EXIT

# 0: nothing to do, 2: changes, anything else: an error. A canceled plan leaves no lock, because it
# takes none. The apply takes one and rejects the plan if the state has changed.
code=0
"$tf" plan -input=false -lock=false -detailed-exitcode -out="$plan" || code=$?
case $code in
  0) exit ;;
  2) ;;
  *) stop "The plan failed. If a variable has no value, $names" ;;
esac

# A renewal keeps the job. Anything else starts or resumes an export.
changes=$("$tf" show -json "$plan")
if ! printf '%s' "$changes" | jq --exit-status '
  [ .resource_changes[]? | select(.type == "docs_static_export") | .change
    | .before.job_id != null and .after.job_id == .before.job_id ] | all' >/dev/null; then
  stop "The plan changes job_id, so it was not applied. Rerun the last publish or plan job. If that changes nothing, $names"
fi

# With exec, a canceled job interrupts the apply instead of the shell.
exec "$tf" apply -lock-timeout=10m "$plan"
