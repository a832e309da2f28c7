// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package verify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/docs-hosting/terraform-provider-docs/api"
	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// point is something that the contract leaves open, and what the provider would do
// differently if it knew this; empty if nothing.
type point struct{ name, seen, better string }

// report returns the report in Markdown. It shows responses as shapes: their values can
// be private.
func (r *run) report() string {
	var b strings.Builder
	table := func(title, head string, rows [][]string) {
		fmt.Fprintf(&b, "\n## %s\n\n", title)
		if len(rows) == 0 {
			b.WriteString("None.\n")
			return
		}
		fmt.Fprintf(&b, "| %s |\n|%s\n", head, strings.Repeat("---|", strings.Count(head, "|")+1))
		for _, row := range rows {
			fmt.Fprintf(&b, "| %s |\n", strings.ReplaceAll(strings.Join(row, "\x00"), "|", "/"))
		}
	}
	fmt.Fprintf(&b, "# Service report\n\nProvider at commit %s, %s on %s/%s.\n", cmp.Or(r.commit, "unknown"), r.version, runtime.GOOS, runtime.GOARCH)

	var steps, points, better [][]string
	for _, s := range r.steps {
		steps = append(steps, []string{s.name, s.result, s.note})
	}
	for _, p := range append(r.points(), r.responses()...) {
		points = append(points, []string{p.name, p.seen})
		if p.better != "" {
			better = append(better, []string{p.name, p.better})
		}
	}
	table("Steps", "Step | Result | Message or reason", steps)
	table("Requests", "Operation | Response | Count", r.count(func(x exchange) []string {
		if x.status == 0 {
			return []string{"no response"}
		}
		return []string{describe(x, false)}
	}))
	table("What the contract leaves open", "Open point | This service", points)
	table("Violations of api/openapi.yaml", "Operation | Violation | Count", r.count(func(x exchange) []string { return x.broken }))
	table("What the provider would do differently if it knew", "Open point | Difference", better)

	text := strings.ReplaceAll(b.String(), "\x00", " | ")
	// No value gets here, except where an error or a name holds one.
	for _, private := range []string{r.apiKey, r.statusID, r.domain, r.service.Host, r.service.Hostname()} {
		if len(private) > 3 {
			text = strings.ReplaceAll(text, private, "(hidden)")
		}
	}
	return text
}

// count counts the texts that said returns for the exchanges of each operation.
func (r *run) count(said func(exchange) []string) (rows [][]string) {
	counts := map[[2]string]int{}
	for _, x := range r.of("", "") {
		for _, text := range said(x) {
			counts[[2]string{x.operation, text}]++
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(counts), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		rows = append(rows, []string{key[0], key[1], fmt.Sprint(counts[key])})
	}
	return rows
}

// describe returns the status and the content type of a response, and the shape of its body.
func describe(x exchange, body bool) string {
	text := fmt.Sprintf("%d, %s", x.status, cmp.Or(x.mediaType, "no content type"))
	if body && x.body != nil {
		text += ", `" + shape(x.body) + "`"
	}
	return text
}

func when(condition bool, text string) string {
	if condition {
		return text
	}
	return ""
}

var (
	knownStatus     = regexp.MustCompile("^`(queued|running|completed|failed)`$")
	plainStatus     = regexp.MustCompile(`^[A-Za-z][A-Za-z _-]{0,30}$`)
	plainValue      = regexp.MustCompile(`^[0-9 ,;=.w-]{1,60}$`)
	rateLimitHeader = regexp.MustCompile(`(?i)rate-?limit`)
	requestIDHeader = regexp.MustCompile(`(?i)(request|correlation|trace|transaction)-?id|^cf-ray$|^traceparent$`)
)

// points returns the open points, except for the fields of the responses.
func (r *run) points() []point {
	jobs := successes(append(r.of(stepExport, startJob), r.of(stepExport, getJob)...))
	links := successes(r.of("", getLink))
	var points []point
	add := func(name, seen, better string) {
		points = append(points, point{name, cmp.Or(seen, "not seen"), better})
	}

	var statuses []string
	strange, progress, pages := false, []float64{}, []float64{}
	for _, x := range jobs {
		status, present := x.body.(map[string]any)["status"]
		text := fmt.Sprint(status)
		if !plainStatus.MatchString(text) {
			text = "(" + shape(status) + ")"
		}
		text = "`" + text + "`"
		strange = strange || present && !knownStatus.MatchString(text)
		if present && (len(statuses) == 0 || !strings.HasPrefix(statuses[len(statuses)-1], text)) {
			statuses = append(statuses, fmt.Sprintf("%s after %s", text, x.at.Sub(jobs[0].at).Round(time.Second)))
		}
		if job, err := replay(r, x, (*client.Client).GetStaticExportJob); err == nil {
			if job.Progress != nil {
				progress = append(progress, *job.Progress)
			}
			if job.PageCount != nil {
				pages = append(pages, float64(*job.PageCount))
			}
		}
	}
	add("Statuses of the job", strings.Join(statuses, ", "), when(strange, "Know which other statuses are final; today it polls until `completed` or `failed`."))
	values := field(jobs, "progress")
	isFraction := len(progress) > 0 && slices.Max(progress) > 0 && slices.Max(progress) <= 1
	add("`progress`", numbers(values, progress)+when(isFraction, ", probably a fraction")+when(len(progress) > 0 && slices.Max(progress) > 1, ", probably percent"),
		when(isFraction, "Multiply it by 100; today it is shown as percent.")+when(len(progress) == 0 && len(values) > 0, "Read it; today it is ignored."))
	values = field(jobs, "pageCount")
	add("`pageCount`", numbers(values, pages), when(len(pages) == 0 && len(values) > 0, "Read it; today it is ignored."))
	for _, name := range []string{"createdAt", "updatedAt"} {
		add("`"+name+"` of the job", distinct(field(jobs, name), timeFormat), "")
	}

	format, lifetime, second, better := distinct(field(links, "expiresAt"), timeFormat), "", "", ""
	if len(links) > 0 {
		link, err := replay(r, links[0], (*client.Client).GenerateBundle)
		switch {
		case err != nil:
			better = "Use the link; today it is refused."
		case link.ExpiresAt.IsZero():
			better = "Renew the link; today the provider cannot tell when it expires."
		default:
			lifetime = link.ExpiresAt.Sub(links[0].at).Round(time.Second).String()
		}
	}
	add("`expiresAt`", format, better+when(strings.Contains(format, "1970"), "Read the documented unit; today it is guessed from the size of the number.")+
		when(strings.Contains(format, "without an offset"), "Read the documented offset; today it is taken as UTC.")+
		when(better == "" && strings.Contains(format, "other:"), "Read it; today the expiry is taken from the link."))
	add("Lifetime of a link, as the provider reads it", lifetime, "")
	early := slices.DeleteFunc(slices.Clone(links), func(x exchange) bool { return x.step == stepRenewal })
	if urls := field(early, "bundleUrl"); len(urls) > 1 {
		second = when(urls[0] == urls[len(urls)-1], "the same link") + when(urls[0] != urls[len(urls)-1], "a new link")
	}
	add("Another request before the link expires", second, when(strings.Contains(second, "same"), "Ignore `renew_before`; today it tries to renew the link early, and then waits for the expiry."))
	add("`sizeBytes`", distinct(field(links, "sizeBytes"), func(value any) string { return shape(value) }), "")
	add("Archive", r.archive, "")

	noRetryAfter, noJob, wrongKey := false, "", ""
	busy := r.first(func(x exchange) bool { return x.status == http.StatusTooManyRequests })
	retryAfter := ""
	if busy != nil {
		value := busy.header.Get("Retry-After")
		_, err := http.ParseTime(value)
		noRetryAfter = err != nil && !plainValue.MatchString(value)
		retryAfter = describe(*busy, true) + when(err == nil, ", `Retry-After` is a date") + when(noRetryAfter, ", no `Retry-After`") + when(plainValue.MatchString(value), ", `Retry-After: "+value+"`")
	}
	add("First 429", retryAfter, when(noRetryAfter, "Wait as long as needed; today it guesses how long."))
	limits := r.headers(rateLimitHeader)
	add("Rate limit headers", limits, when(limits != "", "Slow down before the first 429; today it does so after it."))
	ids := r.headers(requestIDHeader)
	if refusal := r.first(func(x exchange) bool { return x.step == stepWrongKey && x.refused() }); refusal != nil {
		_, err := replay(r, *refusal, (*client.Client).GetStaticExportJob)
		read, _ := errors.AsType[*client.APIError](err)
		wrongKey = when(refusal.status != http.StatusUnauthorized, "Say to check the API key; today it gives the advice for this status.")
		wrongKey += when(refusal.body != nil && read != nil && read.Message == "", "Show the service's message; today it does not find one.")
		add("Request ID", ids, when(ids != "" && read != nil && read.RequestID == "", "Show it in errors; today it does not read this header."))
		add("Wrong API key", describe(*refusal, true), wrongKey)
	}
	if refusal := r.first(func(x exchange) bool { return x.step == stepNoJob && x.refused() }); refusal != nil {
		noJob = when(refusal.status != http.StatusNotFound && refusal.status != http.StatusGone, "Plan a new export if a job is lost, as after a 404; today that is an error.")
		add("Unknown job", describe(*refusal, true), noJob)
	}
	if refusal := r.first(func(x exchange) bool { return x.step == stepNoUpdate && x.refused() }); refusal != nil {
		add("Unknown update", describe(*refusal, true), "")
	}
	if x := r.first(func(x exchange) bool { return x.status != 0 }); x != nil {
		date, err := http.ParseTime(x.header.Get("Date"))
		ahead := date.Sub(x.at).Round(time.Second)
		add("Clock of the service", when(err == nil, ahead.Abs().String()+when(ahead < 0, " behind")+when(ahead >= 0, " ahead of")+" this machine's, to within a second or two"),
			when(err == nil && ahead.Abs() > time.Minute, "Nothing, but correct one of the clocks: the provider compares expiries with this machine's."))
	}
	return points
}

// responses returns the fields that the contract leaves open, by operation.
func (r *run) responses() (points []point) {
	for _, o := range [][2]string{{getUpdate, "Update"}, {startJob, "Job"}, {getJob, "Job"}, {getLink, "Bundle"}} {
		var bodies []any
		var unknown, never []string
		present := map[string]bool{}
		for _, x := range successes(r.of("", o[0])) {
			bodies = append(bodies, x.body)
			fieldNames(present, "", x.body)
			unknown = append(unknown, x.unknown...)
		}
		if len(bodies) == 0 {
			continue
		}
		for _, name := range contractFields(o[1]) {
			if !present[name] {
				never = append(never, name)
			}
		}
		slices.Sort(unknown)
		points = append(points, point{"Response of " + o[0], fmt.Sprintf("`%s`; not in the contract: %s; never present: %s",
			shape(bodies...), cmp.Or(strings.Join(slices.Compact(unknown), ", "), "none"), cmp.Or(strings.Join(never, ", "), "none")), ""})
	}
	return points
}

// successes returns the exchanges with a successful response that is an object.
func successes(exchanges []exchange) (found []exchange) {
	for _, x := range exchanges {
		if _, isObject := x.body.(map[string]any); isObject && x.status/100 == 2 {
			found = append(found, x)
		}
	}
	return found
}

// field returns the values of a field where it is present.
func field(exchanges []exchange, name string) (values []any) {
	for _, x := range exchanges {
		if value, present := x.body.(map[string]any)[name]; present {
			values = append(values, value)
		}
	}
	return values
}

// numbers describes the values of a field, some of which the provider can read.
func numbers(values []any, read []float64) string {
	if len(read) == 0 {
		return shape(values...)
	}
	return fmt.Sprintf("%s from %g to %g", shape(values...), slices.Min(read), slices.Max(read))
}

func (r *run) first(matches func(exchange) bool) *exchange {
	for _, x := range r.of("", "") {
		if matches(x) {
			return &x
		}
	}
	return nil
}

// headers lists the headers of the first response whose names match, and their values if
// they are limits.
func (r *run) headers(name *regexp.Regexp) string {
	found := map[string]bool{}
	if x := r.first(func(x exchange) bool { return x.status != 0 }); x != nil {
		for header, values := range x.header {
			if name.MatchString(header) {
				limit := name == rateLimitHeader && plainValue.MatchString(values[0])
				found["`"+fieldName(header)+when(limit, ": "+values[0])+"`"] = true
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(found)), ", ")
}

// replay returns what the provider's client reads in a recorded response.
func replay[T any](r *run, x exchange, call func(*client.Client, context.Context, string) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := client.New(client.Config{BaseURL: r.service.Scheme + "://localhost/v1", APIKey: "replayed_key", MaxRetries: new(0), RoundTripper: responder(x)})
	if err != nil {
		panic(err) // the configuration is constant
	}
	return call(c, ctx, "job")
}

// responder returns the recorded response to each request.
type responder exchange

func (x responder) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := json.Marshal(x.body)
	return &http.Response{StatusCode: x.status, Header: x.header, Body: io.NopCloser(bytes.NewReader(body)), Request: req}, err
}

// contractFields returns the fields of a schema of api/openapi.yaml, sorted.
func contractFields(schema string) (names []string) {
	document, err := openapi3.NewLoader().LoadFromData(api.OpenAPI)
	if err != nil {
		panic(err) // the document is part of the program
	}
	var walk func(prefix string, properties openapi3.Schemas)
	walk = func(prefix string, properties openapi3.Schemas) {
		for name, property := range properties {
			names = append(names, prefix+name)
			walk(prefix+name+".", property.Value.Properties)
		}
	}
	walk("", document.Components.Schemas[schema].Value.Properties)
	slices.Sort(names)
	return names
}
