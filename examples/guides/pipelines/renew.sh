#!/bin/sh
# Renews the link of the published bundle if it is due. It never starts an export.
set -eu

outputs=$(terraform output -json)
TF_VAR_status_id=$(printf '%s' "$outputs" | jq --raw-output '.status_id.value // empty')
if [ -z "$TF_VAR_status_id" ]; then
  echo "Nothing published yet."
  exit 0
fi
export TF_VAR_status_id

# 0: nothing to do, 2: changes, anything else: an error
code=0
terraform plan -detailed-exitcode -out=plan.tfplan || code=$?
if [ "$code" -ne 2 ]; then
  exit "$code"
fi

# A renewal keeps the job. Anything else exports the site or resumes an export.
plan=$(terraform show -json plan.tfplan)
if ! printf '%s' "$plan" | jq --exit-status '
  [ .resource_changes[]? | select(.type == "docs_static_export") | .change
    | .before.job_id != null and .after.job_id == .before.job_id ] | all' >/dev/null; then
  echo "The plan changes job_id, so it was not applied. Run the pipeline that publishes the site." >&2
  exit 1
fi
terraform apply plan.tfplan
