#!/usr/bin/env bash
# Does everything of a release that needs no key and no network: checks the configuration and the
# manifest, builds HEAD for every target twice, and compares the two byte by byte. The builds run in
# clones in two different directories with a build cache each: a shared one would hide a difference.
# GORELEASER names the goreleaser to use. Takes long; nothing is published.
set -eu
root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
goreleaser=${GORELEASER:-goreleaser}
scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

[ -z "$(git -C "$root" status --porcelain)" ] || echo 'note: what is not committed is left out'

skip=publish,sign
command -v syft >/dev/null || {
  echo 'note: syft is not on PATH, so no SBOM is made'
  skip=$skip,sbom
}

clone() {
  git clone --quiet "$root" "$1"
  # goreleaser wants to know where a release would go.
  git -C "$1" remote set-url origin https://github.com/docs-hosting/terraform-provider-docs.git
}

snapshot() {
  echo "=== snapshot in $1"
  (cd "$1" && GOCACHE="$scratch/cache-$2" "$goreleaser" release --snapshot --clean --skip="$skip")
  # The SBOMs are left out: they carry the moment they were made.
  (cd "$1/dist" && sha256sum ./*.zip ./*_SHA256SUMS) >"$scratch/sums-$2"
}

clone "$scratch/one"
clone "$scratch/another/place"
(cd "$scratch/one" && "$goreleaser" check && go test -run '^TestRegistryManifest' .)

snapshot "$scratch/one" 1
rm -rf "$scratch/cache-1"
snapshot "$scratch/another/place" 2

echo '=== both builds'
cat "$scratch/sums-1"
diff "$scratch/sums-1" "$scratch/sums-2"
echo "$(wc -l <"$scratch/sums-1") files, byte for byte the same"
