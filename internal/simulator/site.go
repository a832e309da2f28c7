// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"html"
	"path"
	"strings"
	"time"
)

// builtinPages are the pages of the built-in site: path and title.
var builtinPages = [][2]string{
	{"index.html", "Acme documentation"},
	{"quickstart.html", "Quickstart"},
	{"guides/hosting.html", "Host the site yourself"},
	{"guides/links.html", "How links expire"},
	{"reference/jobs.html", "Reference: jobs"},
	{"reference/updates.html", "Reference: updates"},
}

const siteStyle = "body { font-family: sans-serif; margin: 2rem auto; max-width: 40rem }\n"

const siteScript = "document.documentElement.dataset.ready = 'true'\n"

// siteDate is the modification time of every file, so that the archive of a
// site is the same, byte for byte, wherever and whenever it is made.
var siteDate = time.Date(2024, time.January, 2, 3, 4, 5, 0, time.UTC)

// siteArchive returns a site with so many pages as a gzip-compressed tar: the
// built-in ones, as far as they go, then numbered ones.
func siteArchive(pages int) ([]byte, error) {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	for _, dir := range []string{"assets/", "guides/", "reference/"} {
		header := &tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755, ModTime: siteDate}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
	}
	add := func(name, content string) error {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: name, Mode: 0o644,
			ModTime: siteDate, Size: int64(len(content)),
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err := archive.Write([]byte(content))
		return err
	}
	if err := add("assets/site.css", siteStyle); err != nil {
		return nil, err
	}
	if err := add("assets/site.js", siteScript); err != nil {
		return nil, err
	}
	for i := range pages {
		name, title := fmt.Sprintf("pages/%05d.html", i+1), fmt.Sprintf("Page %d", i+1)
		if i < len(builtinPages) {
			name, title = builtinPages[i][0], builtinPages[i][1]
		}
		if err := add(name, sitePage(name, title)); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// sitePage returns the HTML of a page. Its links are relative, so that the
// site works wherever it is put.
func sitePage(name, title string) string {
	root := strings.Repeat("../", strings.Count(path.Clean(name), "/"))
	var nav strings.Builder
	for _, page := range builtinPages {
		fmt.Fprintf(&nav, "<li><a href=%q>%s</a></li>\n", root+page[0], html.EscapeString(page[1]))
	}
	return fmt.Sprintf(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>%[1]s</title>
<link rel="stylesheet" href="%[2]sassets/site.css">
<script src="%[2]sassets/site.js" defer></script>
</head>
<body>
<h1>%[1]s</h1>
<ul>
%[3]s</ul>
</body>
</html>
`, html.EscapeString(title), root, nav.String())
}
