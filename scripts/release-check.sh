#!/usr/bin/env bash
# release-check.sh GORELEASER builds the release of HEAD twice, without signing or publishing it, and
# compares the archives. Each build has its own directory and build cache, which would hide a
# difference if they were shared.
set -eu
goreleaser=$1
root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

build() { # build DIRECTORY SUMS
  git clone --quiet "$root" "$1/source"
  cd "$1/source"
  # goreleaser wants to know where a release would go.
  git remote set-url origin https://github.com/docs-hosting/terraform-provider-docs.git
  "$goreleaser" check
  GOCACHE="$1/cache" "$goreleaser" release --snapshot --clean --skip=publish,sign,sbom
  (cd dist && sha256sum ./*.zip ./*_SHA256SUMS) >"$scratch/$2"
}

build "$scratch/one" first
build "$scratch/another/place" second
diff "$scratch/first" "$scratch/second"
echo "$(wc -l <"$scratch/first") files are identical in both builds."
