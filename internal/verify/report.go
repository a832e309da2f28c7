package verify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Operations of api/openapi.yaml.
const (
	startJob = "POST /static-export/jobs"
	getJob   = "GET /static-export/jobs/{id}"
	getLink  = "POST /static-export/jobs/{id}/bundle"
)

// report returns the report in Markdown. It shows the shapes and formats of responses: their values
// can be private.
func (r *run) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Service report\n\nProvider at commit %s, %s on %s/%s. The export %s.\n",
		cmp.Or(r.commit, "unknown"), r.version, runtime.GOOS, runtime.GOARCH, r.result)
	table := func(title, head string, rows []string) {
		fmt.Fprintf(&b, "\n## %s\n\n", title)
		if len(rows) == 0 {
			b.WriteString("None.\n")
			return
		}
		fmt.Fprintf(&b, "| %s |\n%s|\n| %s |\n", head, strings.Repeat("| --- ", strings.Count(head, "|")+1), strings.Join(rows, " |\n| "))
	}
	table("Requests", "Operation | Response | Count", r.count(func(x exchange) []string { return []string{x.describe()} }))
	table("What the contract leaves open", "Open point | This service", r.points())
	table("Differences from api/openapi.yaml", "Operation | Difference | Count", r.count(func(x exchange) []string { return x.differences }))

	text := b.String()
	// Only values of a known, harmless form get here (see plain), except where an error or a name holds one.
	for _, private := range []string{r.apiKey, r.statusID, r.domain, r.base.Host, r.base.Hostname()} {
		if len(private) > 3 {
			text = strings.ReplaceAll(text, private, "(hidden)")
		}
	}
	return text
}

// count returns rows that count what said returns for the exchanges of each operation.
func (r *run) count(said func(exchange) []string) (rows []string) {
	counts := map[string]int{}
	for _, x := range r.exchanges {
		for _, text := range said(x) {
			counts[x.operation+" | "+text]++
		}
	}
	for _, row := range slices.Sorted(maps.Keys(counts)) {
		rows = append(rows, fmt.Sprintf("%s | %d", row, counts[row]))
	}
	return rows
}

// points returns rows that say what this service does where the contract is open.
func (r *run) points() (rows []string) {
	add := func(name, seen string) { rows = append(rows, name+" | "+cmp.Or(seen, "not seen")) }
	add("Life of the job", life(r.of(startJob, getJob)))
	links := r.of(getLink)
	if expires := values("expiresAt", links...); len(expires) > 0 {
		read := "which the provider cannot read"
		if !r.expires.IsZero() {
			read = "a lifetime of " + r.expires.Sub(links[0].at).Round(time.Second).String()
		}
		add("`expiresAt`", mask(expires[0])+", "+read)
	}
	if urls := values("bundleUrl", links...); len(urls) > 1 {
		add("Another request before the link expires", map[bool]string{true: "the same link", false: "a new link"}[fmt.Sprint(urls[0]) == fmt.Sprint(urls[1])])
	}
	add("Archive", r.archive)
	add("Limits", r.headers("(?i)rate-?limit|^Retry-After$", `^[0-9 ,;=.w-]{1,60}$`))
	add("Request ID", r.headers("(?i)(request|correlation|trace|transaction)-?id|^cf-ray$|^traceparent$", "^$"))
	return append(rows, r.refusals...)
}

// of returns the exchanges of operations.
func (r *run) of(operations ...string) (found []exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.exchanges {
		if slices.Contains(operations, x.operation) {
			found = append(found, x)
		}
	}
	return found
}

// values returns the values of a field in the successful responses that have it.
func values(name string, exchanges ...exchange) (found []any) {
	for _, x := range exchanges {
		if object, isObject := x.body.(map[string]any); isObject && x.status/100 == 2 && object[name] != nil {
			found = append(found, object[name])
		}
	}
	return found
}

// describe returns the status, the content type, and the shape of the body.
func (x exchange) describe() string {
	if x.status == 0 {
		return "no response"
	}
	mediaType, _, _ := mime.ParseMediaType(x.header.Get("Content-Type"))
	text := fmt.Sprintf("%d, %s", x.status, cmp.Or(mediaType, "no content type"))
	if x.body != nil {
		text += ", `" + shape(x.body) + "`"
	}
	return text
}

// life returns when a job got each status, and its progress then.
func life(jobs []exchange) string {
	const number = `^[0-9.]{1,20} ?%?$`
	var seen []string
	var last any
	for _, x := range jobs {
		job, _ := x.body.(map[string]any)
		if status := fmt.Sprint(job["status"]); x.status/100 == 2 && status != last {
			last = status
			seen = append(seen, fmt.Sprintf("%s after %s (`progress` %s, `pageCount` %s)", plain(status, `^[A-Za-z][A-Za-z _-]{0,30}$`),
				x.at.Sub(jobs[0].at).Round(time.Second), plain(job["progress"], number), plain(job["pageCount"], number)))
		}
	}
	return strings.Join(seen, ", ")
}

// headers lists the headers whose names match, with the first value of each. It masks a value that
// does not match public.
func (r *run) headers(name, public string) string {
	found := map[string]string{}
	for _, x := range r.exchanges {
		for header, values := range x.header {
			if regexp.MustCompile(name).MatchString(header) && found[header] == "" {
				found[header] = "`" + fieldName(header) + "`: " + plain(values[0], public)
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Values(found)), ", ")
}

// shape describes the types of a JSON value without the values.
func shape(value any) string {
	parts := map[string]bool{}
	switch value := value.(type) {
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case []any:
		for _, item := range value {
			parts[shape(item)] = true
		}
		return "[" + strings.Join(slices.Sorted(maps.Keys(parts)), " or ") + "]"
	case map[string]any:
		for name, item := range value {
			parts[fieldName(name)+": "+shape(item)] = true
		}
		return "{" + strings.Join(slices.Sorted(maps.Keys(parts)), ", ") + "}"
	}
	return "null"
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z_-]*[0-9]{0,3}[A-Za-z_-]{0,20}$`)

// fieldName returns the name of a field or header, or a placeholder if it looks like a value: an
// object can be keyed by IDs or hosts.
func fieldName(name string) string {
	if plainName.MatchString(name) && len(name) <= 40 {
		return name
	}
	return "NAME"
}

// plain shows a value that matches a pattern, and masks any other.
func plain(value any, pattern string) string {
	if value == nil {
		return "none"
	}
	if text := fmt.Sprint(value); regexp.MustCompile(pattern).MatchString(text) {
		return "`" + text + "`"
	}
	return mask(value)
}

var digit, letter = regexp.MustCompile(`[0-9]`), regexp.MustCompile(`[^0-9TZ :.,;=+_-]`)

// mask shows the format of a value: each digit is 9, and each letter is a, except for the T and the Z
// of a timestamp.
func mask(value any) string {
	text := digit.ReplaceAllString(letter.ReplaceAllString(fmt.Sprint(value), "a"), "9")
	return "`" + text[:min(len(text), 40)] + "`"
}

// archiveOf describes a bundle on disk and what was unpacked from it.
func archiveOf(file, directory string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	pages, _ := filepath.Glob(filepath.Join(directory, "*.html"))
	return fmt.Sprintf("%s of %d bytes; `.html` files at the top: %d", http.DetectContentType(content), len(content), len(pages))
}
