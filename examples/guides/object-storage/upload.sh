#!/usr/bin/env bash
# Upload a site to S3 and refresh the CDN: upload.sh DIRECTORY BUCKET DISTRIBUTION_ID
set -euo pipefail

# Upload assets first, so that no new page refers to a missing asset.
aws s3 sync "$1" "s3://$2" --exclude '*.html' --cache-control 'public, max-age=3600'
aws s3 sync "$1" "s3://$2" --exclude '*' --include '*.html' --cache-control 'no-cache' --content-type 'text/html; charset=utf-8'
# Delete old files last, when no page refers to them.
aws s3 sync "$1" "s3://$2" --delete --size-only
aws cloudfront create-invalidation --distribution-id "$3" --paths '/*'
