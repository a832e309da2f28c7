package simulator

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"html"
	"time"
)

// builtinPages are the paths and titles of the pages of the built-in site.
var builtinPages = [][2]string{
	{"index.html", "Acme documentation"},
	{"quickstart.html", "Quickstart"},
	{"guides/hosting.html", "Host the site yourself"},
	{"guides/links.html", "How links expire"},
	{"reference/jobs.html", "Reference: jobs"},
	{"reference/updates.html", "Reference: updates"},
}

// siteDate is the modification time of every file, so that two archives of one job are
// equal byte for byte.
var siteDate = time.Date(2024, time.January, 2, 3, 4, 5, 0, time.UTC)

// archive returns the job's site as a gzip-compressed tar: the built-in pages, of which the
// first one names the domain and the job, then numbered pages, up to the requested number.
func (j *job) archive() []byte {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zip)
	add := func(header tar.Header, content string) {
		header.ModTime, header.Size = siteDate, int64(len(content))
		_ = archive.WriteHeader(&header) // a bytes.Buffer takes everything
		_, _ = archive.Write([]byte(content))
	}
	for _, dir := range []string{"assets/", "guides/", "reference/"} {
		add(tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755}, "")
	}
	file := func(name, content string) { add(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}, content) }
	file("assets/site.css", "body { font-family: sans-serif; margin: 2rem auto; max-width: 40rem }\n")
	file("assets/site.js", "document.documentElement.dataset.ready = 'true'\n")
	for i := range j.Pages {
		name, title := fmt.Sprintf("pages/%05d.html", i+1), fmt.Sprintf("Page %d", i+1)
		if i < len(builtinPages) {
			name, title = builtinPages[i][0], builtinPages[i][1]
		}
		page := fmt.Sprintf("<!doctype html>\n<title>%[1]s</title>\n<h1>%[1]s</h1>\n", title)
		if i == 0 {
			page += fmt.Sprintf("<p>Job %s exported %s</p>\n", html.EscapeString(j.ID), html.EscapeString(j.domain))
		}
		file(name, page)
	}
	_ = archive.Close()
	_ = zip.Close()
	return packed.Bytes()
}
