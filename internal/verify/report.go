// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package verify

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/docs-hosting/terraform-provider-docs/api"
)

// report returns the report in Markdown. It shows responses as shapes: their values can
// be private.
func (r *run) report() string {
	var b strings.Builder
	table := func(title string, rows ...[]string) {
		fmt.Fprintf(&b, "\n## %s\n\n", title)
		if len(rows) == 1 {
			b.WriteString("None.\n")
			return
		}
		rows = slices.Insert(rows, 1, slices.Repeat([]string{"---"}, len(rows[0])))
		for _, row := range rows {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		}
	}
	steps := [][]string{{"Step", "Result", "Message or reason"}}
	for _, s := range r.steps {
		steps = append(steps, []string{s.name, s.result, s.note})
	}
	points := slices.Concat([][]string{{"Open point", "This service"}}, r.points(), r.fields())
	better := [][]string{{"Open point", "Difference"}}
	for _, d := range differences {
		if slices.ContainsFunc(points, func(point []string) bool { return point[0] == d.point && d.seen.MatchString(point[1]) }) {
			better = append(better, []string{d.point, d.better})
		}
	}
	fmt.Fprintf(&b, "# Service report\n\nProvider at commit %s, %s on %s/%s.\n", cmp.Or(r.commit, "unknown"), r.version, runtime.GOOS, runtime.GOARCH)
	table("Steps", steps...)
	table("Requests", r.count("Response", func(x exchange) []string { return []string{x.kind()} })...)
	table("What the contract leaves open", points...)
	table("Violations of api/openapi.yaml", r.count("Violation", func(x exchange) []string { return x.broken })...)
	table("What the provider would do differently if it knew", better...)

	text := b.String()
	// No value gets here, except where an error or a name holds one.
	for _, private := range []string{r.apiKey, r.statusID, r.domain, r.service.Host, r.service.Hostname()} {
		if len(private) > 3 {
			text = strings.ReplaceAll(text, private, "(hidden)")
		}
	}
	return text
}

// count returns a table that counts the texts that said returns for the exchanges of each
// operation.
func (r *run) count(title string, said func(exchange) []string) [][]string {
	counts := map[string]int{}
	for _, x := range r.of("", "") {
		for _, text := range said(x) {
			counts[x.operation+" | "+text]++
		}
	}
	rows := [][]string{{"Operation", title, "Count"}}
	for _, row := range slices.Sorted(maps.Keys(counts)) {
		rows = append(rows, []string{row, fmt.Sprint(counts[row])})
	}
	return rows
}

// differences are what the provider would do differently if it knew what a service does.
var differences = []struct {
	point  string
	seen   *regexp.Regexp
	better string
}{
	{"Statuses of the job", regexp.MustCompile(`unknown to the provider`), "Know which other statuses are final; today it polls until `completed` or `failed`."},
	{"`progress`", regexp.MustCompile("to `(0\\.[0-9]+|1|1\\.0+)`$"), "Multiply it by 100; today it is shown as percent."},
	{"`expiresAt`", regexp.MustCompile("`[9.]+`"), "Read the documented unit; today it is guessed from the size of the number."},
	{"Lifetime of a link", regexp.MustCompile(`unknown to the provider`), "Renew the link; today the provider cannot tell when it expires."},
	{"Another request before the link expires", regexp.MustCompile(`same`), "Ignore `renew_before`; today it tries to renew the link early, and then waits for the expiry."},
	{"Request ID", regexp.MustCompile(`unknown to the provider`), "Show it in errors; today it does not read this header."},
	{"Wrong API key", regexp.MustCompile(`^4(0[^1]|[^0])`), "Advise the user to check the API key; today it gives the advice for this status."},
	{"Unknown job", regexp.MustCompile(`^4(0[^4]|1[^0]|[^01])`), "Plan a new export if a job is lost, as after a 404; today that is an error."},
}

// points returns what the contract leaves open, except for the fields of the responses,
// and what this service does.
func (r *run) points() [][]string {
	jobs := append(r.of(stepExport, startJob), r.of(stepExport, getJob)...)
	links := r.of(stepExport, getLink)
	const limit = `^[0-9 ,;=.w-]{1,60}$`
	var points [][]string
	add := func(name, seen string) { points = append(points, []string{name, cmp.Or(seen, "not seen")}) }

	add("Statuses of the job", statuses(jobs))
	add("`progress`", numbers(field(jobs, "progress")))
	add("`pageCount`", numbers(field(jobs, "pageCount")))
	if times := field(links, "expiresAt"); len(times) > 0 {
		add("`expiresAt`", shape(times...)+" like "+mask(times[0]))
	}
	if !r.expires.IsZero() {
		add("Lifetime of a link", r.expires.Sub(links[0].at).Round(time.Second).String()+", as the provider reads it")
	} else if len(links) > 0 {
		add("Lifetime of a link", "unknown to the provider")
	}
	if urls := field(links, "bundleUrl"); len(urls) > 1 {
		add("Another request before the link expires", map[bool]string{true: "the same link", false: "a new link"}[fmt.Sprint(urls[0]) == fmt.Sprint(urls[1])])
	}
	add("`sizeBytes`", shape(field(links, "sizeBytes")...))
	add("Archive", r.archive)
	all := r.of("", "")
	busy := ""
	if i := slices.IndexFunc(all, func(x exchange) bool { return x.status == http.StatusTooManyRequests }); i >= 0 {
		busy = all[i].describe() + ", " + cmp.Or(headers(all[i:i+1], "^Retry-After$", limit), "no `Retry-After`")
	}
	add("First 429", busy)
	add("Rate limit headers", headers(all, "(?i)rate-?limit", limit))
	add("Request ID", r.requestID())
	add("Wrong API key", r.last(stepWrongKey).describe())
	add("Unknown job", r.last(stepNoJob).describe())
	add("Unknown update", r.last(stepNoUpdate).describe())
	x := r.last("")
	if date, err := http.ParseTime(x.header.Get("Date")); err == nil {
		add("Clock of the service", date.Sub(x.at.Truncate(time.Second)).String()+" ahead of this machine's, to within a second or two")
	}
	return points
}

// statuses returns which statuses a job had, and when.
func statuses(jobs []exchange) string {
	var seen []string
	last := ""
	for _, x := range jobs {
		for _, status := range field([]exchange{x}, "status") {
			if fmt.Sprint(status) == last {
				continue
			}
			last = fmt.Sprint(status)
			text := plain(status, `^[A-Za-z][A-Za-z _-]{0,30}$`)
			if !slices.Contains([]string{"`queued`", "`running`", "`completed`", "`failed`"}, text) {
				text += ", unknown to the provider,"
			}
			seen = append(seen, text+" after "+x.at.Sub(jobs[0].at).Round(time.Second).String())
		}
	}
	return strings.Join(seen, ", ")
}

// numbers describes the values of a number that grows.
func numbers(values []any) string {
	if len(values) == 0 {
		return "never present"
	}
	const number = `^[0-9.]{1,20} ?%?$`
	return shape(values...) + " from " + plain(values[0], number) + " to " + plain(values[len(values)-1], number)
}

// requestID returns the headers that seem to have the ID of a request. If the provider
// knows one, its errors show the ID.
func (r *run) requestID() string {
	found := headers(r.of("", ""), "(?i)(request|correlation|trace|transaction)-?id|^cf-ray$|^traceparent$", "^$")
	shown := slices.ContainsFunc(r.steps, func(s step) bool { return s.name == stepWrongKey && strings.Contains(s.output, "(request") })
	if found != "" && !shown {
		found += ", unknown to the provider"
	}
	return found
}

// headers lists the headers whose names match, with the first value of each. It masks a
// value that does not match public.
func headers(exchanges []exchange, name, public string) string {
	found := map[string]string{}
	for _, x := range exchanges {
		for header, values := range x.header {
			if regexp.MustCompile(name).MatchString(header) && found[header] == "" {
				found[header] = "`" + fieldName(header) + "`: " + plain(values[0], public)
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Values(found)), ", ")
}

// fields returns which fields the responses have, by operation.
func (r *run) fields() (points [][]string) {
	document, err := openapi3.NewLoader().LoadFromData(api.OpenAPI)
	if err != nil {
		panic(err) // the document is part of the program
	}
	for _, o := range [][2]string{{getUpdate, "Update"}, {startJob, "Job"}, {getJob, "Job"}, {getLink, "Bundle"}} {
		var bodies []any
		var unknown []string
		for _, x := range r.of("", o[0]) {
			if x.status/100 == 2 && x.body != nil {
				bodies, unknown = append(bodies, x.body), append(unknown, x.unknown...)
			}
		}
		if len(bodies) > 0 {
			slices.Sort(unknown)
			never := missing("", document.Components.Schemas[o[1]].Value, bodies)
			points = append(points, []string{"Response of " + o[0], fmt.Sprintf("`%s`; not in the contract: %s; no value for: %s",
				shape(bodies...), cmp.Or(strings.Join(slices.Compact(unknown), ", "), "none"), cmp.Or(strings.Join(never, ", "), "none"))})
		}
	}
	return points
}
