#!/bin/sh
# Exports the site after an update: run.sh STATUS_ID. Needs TFE_TOKEN, WORKSPACE_ID, and VARIABLE_ID.
set -eu

request() {
  curl --fail --silent --show-error --output /dev/null --request "$1" --data "$3" \
    --header "Authorization: Bearer $TFE_TOKEN" --header 'Content-Type: application/vnd.api+json' \
    "https://app.terraform.io/api/v2/$2"
}

request PATCH "workspaces/$WORKSPACE_ID/vars/$VARIABLE_ID" \
  '{"data":{"type":"vars","id":"'"$VARIABLE_ID"'","attributes":{"value":"'"$1"'"}}}'
request POST runs \
  '{"data":{"type":"runs","attributes":{"message":"Update '"$1"'"},"relationships":{"workspace":{"data":{"type":"workspaces","id":"'"$WORKSPACE_ID"'"}}}}}'
