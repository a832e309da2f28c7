#!/usr/bin/env bash
# Writes the archives beside this script, with the tools that people use. Made on Debian 12 with GNU tar 1.34, bsdtar 3.6.2,
# Info-ZIP zip 3.0, 7-Zip 26.02, Python 3.11, BusyBox 1.35, GNU cpio 2.13, git 2.39, pigz 2.6, OpenJDK 17, and archiver 7 of
# Node.js 20 (NODE_PATH). With another version, bytes may differ, but not what archive_test.go expects.
set -euo pipefail
out=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TZ=UTC

mkdir -p site/docs site/empty
for page in index.html docs/guide.html "docs/über uns.html"; do echo home >"site/$page"; done
find site -depth -exec touch -d 2024-01-01 {} +
cd site

gnu() { tar --sort=name --owner=0 --group=0 --numeric-owner "$@"; }
for format in v7 oldgnu gnu ustar; do gnu --format=$format -cf - . | gzip -n >"$out/gnutar-$format.tar.gz"; done
gnu --format=pax --pax-option=delete=atime,delete=ctime -cf - . | gzip -n >"$out/gnutar-pax.tar.gz"
gnu -cf - -- * | gzip -n >"$out/gnutar-no-root.tar.gz"
gnu --mode=000 -cf - . | gzip -n >"$out/gnutar-mode-000.tar.gz"
gnu -b1 -cf ../blocks.tar .
gzip -n <../blocks.tar >"$out/gnutar-two-zero-blocks.tar.gz"
head -c -512 ../blocks.tar | gzip -n >"$out/gnutar-one-zero-block.tar.gz"
head -c -1024 ../blocks.tar | gzip -n >"$out/gnutar-no-zero-block.tar.gz"
gnu -cf - . | pigz -n >"$out/pigz.tar.gz"
{ head -c 1024 ../blocks.tar | gzip -n; tail -c +1025 ../blocks.tar | gzip -n; } >"$out/gzip-members.tar.gz"
gnu -cf ../twice.tar . && tar --owner=0 --group=0 -rf ../twice.tar docs/./guide.html index.html && gzip -n <../twice.tar >"$out/gnutar-appended.tar.gz"
bsdtar --uid 0 --gid 0 -cf - . | gzip -n >"$out/bsdtar.tar.gz"
bsdtar --uid 0 --gid 0 -czf - . | cat >"$out/bsdtar-padded.tar.gz" # zeros after the gzip stream, because it writes to a pipe
bsdtar --format zip -cf - . | cat >"$out/bsdtar.zip"
busybox tar -cf - . | gzip -n >"$out/busybox.tar.gz"
find . | LC_ALL=C sort | cpio --quiet -R 0:0 -o -H ustar | gzip -n >"$out/cpio-ustar.tar.gz"
zip -qXr "$out/infozip.zip" .
zip -qXr - . | cat >"$out/infozip-stream.zip"
7z a -bd -tzip "$out/7zip.zip" . >/dev/null
jar --create --no-manifest --date=2024-01-01T00:00:00Z --file "$out/jar.zip" .
python3 - "$out" <<'PYTHON'
import os, shutil, sys, tarfile, zlib, struct, gzip, io
out = sys.argv[1]
shutil.make_archive(out + "/python", "zip", ".")
with open(out + "/python.tar.gz", "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z, tarfile.open(fileobj=z, mode="w") as t:
    t.add(".", filter=lambda i: setattr(i, "uname", "") or setattr(i, "gname", "") or setattr(i, "uid", 0) or setattr(i, "gid", 0) or i)

# Directories as regular entries of size 0 whose names end with a slash, which tar and bsdtar read as directories.
with open(out + "/slash.tar.gz", "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z, tarfile.open(fileobj=z, mode="w", format=tarfile.USTAR_FORMAT) as t:
    for name, body in ("docs/", b""), ("docs/guide.html", b"home\n"), ("empty/", b""), ("index.html", b"home\n"), ("docs/über uns.html", b"home\n"):
        header = tarfile.TarInfo(name)
        header.size, header.type = len(body), tarfile.REGTYPE
        block = bytearray(header.tobuf(tarfile.USTAR_FORMAT))
        block[:100] = name.encode().ljust(100, b"\0")  # tarfile drops the slash
        block[148:156] = b" " * 8
        block[148:156] = b"%06o\0 " % sum(block)
        t.fileobj.write(bytes(block) + body.ljust(-len(body) // 512 * -512, b"\0"))

# Names in code page 437 with the Unicode path extra field of Info-ZIP (APPNOTE 4.6.9), as Apache commons-compress writes them.
def unicode_zip(name, pages, lie=0):
    local, central = b"", b""
    for page in pages:
        raw, body = page.encode("cp437", "replace"), b"" if page.endswith("/") else b"home\n"
        path = struct.pack("<BL", 1, zlib.crc32(raw) ^ lie) + page.encode()
        extra = struct.pack("<HH", 0x7075, len(path)) + path
        fields = struct.pack("<HHHHHLLLHH", 20, 0, 0, 0, 0x5821, zlib.crc32(body), len(body), len(body), len(raw), len(extra))
        central += b"PK\1\2" + struct.pack("<H", 20) + fields + struct.pack("<HHHLL", 0, 0, 0, 0, len(local)) + raw + extra
        local += b"PK\3\4" + fields + raw + extra + body
    end = b"PK\5\6" + struct.pack("<HHHHLLH", 0, 0, len(pages), len(pages), len(central), len(local), 0)
    open(out + "/" + name, "wb").write(local + central + end)
unicode_zip("unicode-path.zip", ["docs/", "docs/guide.html", "empty/", "index.html", "docs/über uns.html"])
unicode_zip("unicode-path-of-another-name.zip", ["docs/über uns.html"], lie=1)
PYTHON
[ -z "${NODE_PATH:-}" ] || for kind in tar zip; do
	OUT=$out KIND=$kind node -e 'const a = require("archiver")(process.env.KIND, {gzip: true})
		a.pipe(require("fs").createWriteStream(`${process.env.OUT}/node.${process.env.KIND == "tar" ? "tar.gz" : "zip"}`)); a.directory(".", false); a.finalize()'
done

cd .. && cp -r site repository && cd repository && git init -q && git add -A
GIT_AUTHOR_DATE=2024-01-01T00:00Z GIT_COMMITTER_DATE=2024-01-01T00:00Z git -c user.name=a -c user.email=a@example.com commit -qm site
git archive --format tar HEAD | gzip -n >"$out/git.tar.gz"
git archive --format zip HEAD >"$out/git.zip"

mkdir ../odd && cd ../odd
echo home >index.html && touch -d 2024-01-01 index.html
ln -s index.html latest && touch -hd 2024-01-01 latest
gnu -cf - -- * | gzip -n >"$out/symbolic-link.tar.gz"
zip -qXy "$out/symbolic-link.zip" -- *
rm latest && ln index.html same.html
gnu -cf - -- * | gzip -n >"$out/hard-link.tar.gz"
rm same.html && mkfifo pipe && touch -d 2024-01-01 pipe && gnu -cf - -- * | gzip -n >"$out/fifo.tar.gz"
rm pipe && mv index.html $'caf\xe9.html'
gnu -cf - -- * | gzip -n >"$out/latin-1.tar.gz"
zip -qX "$out/latin-1.zip" -- *
