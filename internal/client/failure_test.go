package client

import (
	"context"
	"os"
	"testing"
	"time"
)

func TestEachFailureHasOneMeaning(t *testing.T) {
	each := func(newError func(int) error) func(...int) []error {
		return func(codes ...int) (errs []error) {
			for _, code := range codes {
				errs = append(errs, newError(code))
			}
			return errs
		}
	}
	api := each(status)
	pages := each(func(code int) error { return &APIError{Exchange: Exchange{StatusCode: code}, Page: true} })
	store := each(func(code int) error { return &StorageError{StatusCode: code} })
	connection := func(e ConnectionError) []error { return []error{&e} }
	const acted, idle = true, false
	for _, test := range []struct {
		reason Reason
		kind   kind
		acted  bool
		errs   []error
	}{
		{ReasonRejected, refused, acted, api(101)},
		{ReasonRejected, refused, idle, append(api(400, 406, 418, 422, 451), pages(400, 422)...)},
		{ReasonUnauthorized, refused, idle, append(api(401), pages(401)...)},
		{ReasonForbidden, refused, idle, append(api(402, 403), pages(402, 403)...)},
		{ReasonNotFound, notFound, idle, api(404, 410)},
		{ReasonConflict, refused, acted, append(api(409), pages(409)...)},
		{ReasonTooLarge, refused, idle, append(api(413), pages(413)...)},
		{ReasonRateLimited, throttled, idle, append(api(429), pages(429)...)},
		{ReasonUnavailable, temporary, idle, api(425)},
		{ReasonUnavailable, temporary, acted, append(api(408, 500, 502, 503, 504, 520, 599, 600, 999), pages(502)...)},
		{ReasonRedirected, refused, acted, append(api(301, 302, 303), pages(302)...)},
		{ReasonRedirected, refused, idle, api(300, 304, 307, 308)},
		{ReasonNotTheAPI, refused, idle, append(api(405, 501, 505), pages(404, 405, 410, 501)...)},
		{ReasonNotTheAPI, temporary, acted, []error{&UnexpectedResponseError{NotJSON: true}}}, // perhaps a page of a proxy
		{ReasonOffContract, refused, acted, []error{&UnexpectedResponseError{}}},

		{ReasonProxyCredentials, refused, idle, append(api(407), connection(ConnectionError{ProxyStatus: 407})...)},
		{ReasonProxyCredentials, refused, idle, connection(ConnectionError{ProxyStatus: 407, Storage: true})},
		{ReasonUntrusted, refused, idle, connection(ConnectionError{Untrusted: true})},
		{ReasonUntrusted, refused, acted, connection(ConnectionError{Untrusted: true, Sent: true, Storage: true})},
		{ReasonPlainHTTP, refused, idle, connection(ConnectionError{PlainHTTP: true})},
		{ReasonNoResponse, unconnected, idle, append(connection(ConnectionError{}), connection(ConnectionError{ProxyStatus: 503})...)},
		{ReasonNoResponse, temporary, acted, connection(ConnectionError{Sent: true})},

		{ReasonStoreNoResponse, temporary, acted, connection(ConnectionError{Sent: true, Storage: true})},
		{ReasonRateLimited, throttled, idle, store(429)},
		{ReasonUnavailable, temporary, idle, store(408, 425, 500, 503, 600)},
		{ReasonNotTheStore, linkRefused, idle, store(200, 204)}, // with text, or without a bundle
		{ReasonNotTheStore, refused, idle, store(301, 302, 307, 501, 505)},
		{ReasonNotTheStore, refused, acted, connection(ConnectionError{PlainHTTP: true, Sent: true, Storage: true})},
		{ReasonLinkRefused, linkRefused, idle, store(400, 401, 402, 403, 404, 405, 407, 409, 410, 413, 416, 418)},

		{ReasonOutage, permanent, idle, []error{&GaveUpError{Cause: ErrOutage, Last: status(404)}}},
		{ReasonNotFound, notFound, idle, []error{&GaveUpError{Cause: status(404), Last: status(404)}}},
		{ReasonNone, permanent, idle, []error{&GaveUpError{Cause: context.DeadlineExceeded, Last: status(404)}}},
		{ReasonNone, permanent, idle, []error{context.Canceled, &BusyError{}, os.ErrClosed, nil}}, // of the file of a download
	} {
		for _, err := range test.errs {
			want := failure{meaning: meaning{test.reason, test.kind, test.acted}}
			if got := classify(err); got != want {
				t.Errorf("%#v: %+v, want %+v", err, got, want)
			}
			if ReasonOf(err) != test.reason || MayHaveStarted(err) != test.acted || IsNotFound(err) != (test.reason == ReasonNotFound) {
				t.Errorf("%#v: %d, may have started: %t, not found: %t", err, ReasonOf(err), MayHaveStarted(err), IsNotFound(err))
			}
		}
	}
}

func TestFailureKeepsWhatTheServiceAsksForAndTheProgress(t *testing.T) {
	asks := failure{retryAfter: time.Second}
	for err, want := range map[error]failure{
		asking(403, time.Second).error:                              asks,
		&StorageError{StatusCode: 302, RetryAfter: time.Second}:     asks,
		&ConnectionError{Sent: true, Storage: true, Progress: true}: {progress: true},
	} {
		got := classify(err)
		if got.meaning = (meaning{}); got != want {
			t.Errorf("%v: %+v, want %+v", err, got, want)
		}
	}
}
