package client

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"testing"
)

func TestEachFailureHasOneMeaning(t *testing.T) {
	has := map[kind]bool{permanent: true, ended: true, unready: true} // which are no failures of the network
	want := func(name string, err *Error, want meaning) {
		t.Helper()
		has[want.kind] = true
		wantMeaning(t, name, err, want)
		if IsNotFound(err) != (want.reason == ReasonNotFound) {
			t.Errorf("%s: not found: %t", name, IsNotFound(err))
		}
	}
	const text, page, store, acted, idle = "", "<html>", "back at noon", true, false // store is of the object store
	tested := map[int]bool{}                                                         // the statuses that the table has
	for _, test := range []struct {
		meaning
		body     string
		statuses []int
	}{
		{meaning{ReasonRejected, refused, acted}, text, []int{101}},
		{meaning{ReasonRejected, refused, idle}, text, []int{400, 406, 418, 422, 425, 451}},
		{meaning{ReasonRejected, refused, idle}, page, []int{400, 422}},
		{meaning{ReasonUnauthorized, refused, idle}, text, []int{401}},
		{meaning{ReasonUnauthorized, refused, idle}, page, []int{401}}, // a gateway may check the key
		{meaning{ReasonForbidden, refused, idle}, text, []int{402, 403}},
		{meaning{ReasonNotFound, notFound, idle}, text, []int{404, 410}},
		{meaning{ReasonConflict, temporary, acted}, text, []int{409}},
		{meaning{ReasonTooLarge, refused, idle}, page, []int{413}},
		{meaning{ReasonRateLimited, throttled, idle}, page, []int{429}},
		{meaning{ReasonUnavailable, temporary, acted}, text, []int{408, 500, 502, 504, 520, 599, 600, 999}},
		{meaning{ReasonUnavailable, temporary, acted}, page, []int{502}},
		{meaning{ReasonOverloaded, temporary, acted}, page, []int{503}},
		{meaning{ReasonRedirected, refused, acted}, text, []int{301, 302, 303}},
		{meaning{ReasonRedirected, refused, idle}, text, []int{300, 304, 307, 308}},
		{meaning{ReasonProxyCredentials, refused, idle}, text, []int{407}},
		{meaning{ReasonNotTheAPI, refused, idle}, text, []int{405, 501, 505, 511}},
		{meaning{ReasonNotTheAPI, refused, idle}, page, []int{402, 403, 404, 410}},
		{meaning{ReasonNotTheAPI, temporary, acted}, page, []int{200}}, // perhaps of a proxy
		{meaning{ReasonOffContract, refused, acted}, "[]", []int{200}},

		{meaning{ReasonRateLimited, throttled, idle}, store, []int{429}},
		{meaning{ReasonUnavailable, temporary, idle}, store, []int{408, 500, 600}},
		{meaning{ReasonOverloaded, temporary, idle}, store, []int{503}},
		{meaning{ReasonNotTheStore, linkRefused, idle}, store, []int{200, 204}}, // with text, or without a bundle
		{meaning{ReasonNotTheStore, refused, idle}, store, []int{101, 301, 302, 307, 501, 505, 511}},
		{meaning{ReasonLinkRefused, linkRefused, idle}, store, []int{400, 401, 402, 403, 404, 405, 407, 409, 410, 413, 418, 425}},
	} {
		for _, status := range test.statuses {
			c, name := receiving(t, status, test.body), fmt.Sprint(status, test.body)
			tested[status] = tested[status] || test.body != store
			if test.body == store {
				want(name, receive(t, c, "https://store.test/1", &memory{}), test.meaning)
			} else {
				_, err := c.send(t.Context(), aStart, firstAttempt)
				want(name, err, test.meaning)
			}
		}
	}
	for status := range statuses {
		if !tested[status] {
			t.Errorf("no row says what %d of statuses means: add it, with whether the service may have acted", status)
		}
	}
	for status, means := range map[int]meaning{ // of a response that asks for a wait
		400: statuses[429], 401: {ReasonUnauthorized, throttled, false}, 403: statuses[429], 423: statuses[429],
		404: statuses[404], 408: statuses[408], 409: statuses[409], 410: statuses[410], 503: statuses[503],
	} {
		want(fmt.Sprint(status, " that asks"), newError("", meaningOf(status, second)), means)
	}
	untrusted := &tls.CertificateVerificationError{Err: errors.New("unknown authority")}
	for _, test := range []struct {
		meaning         // of a start
		store   meaning // of a download
		err     error
	}{
		{meaning{ReasonNoResponse, unconnected, false}, meaning{ReasonStoreNoResponse, temporary, false}, errRefused},
		{meaning{ReasonUntrusted, refused, false}, meaning{ReasonUntrusted, refused, false}, untrusted},
		{meaning{ReasonProxyCredentials, refused, false}, meaning{ReasonProxyCredentials, refused, false}, proxyError(407)},
		{meaning{ReasonProxyRefused, unconnected, false}, meaning{ReasonProxyRefused, unconnected, false}, proxyError(403)},
		{meaning{ReasonPlainHTTP, refused, false}, meaning{ReasonNotTheStore, refused, false}, http.ErrSchemeMismatch},
	} {
		c := exchanging(t, func(*http.Request) (*http.Response, error) { return nil, test.err })
		_, err := c.send(t.Context(), aStart, firstAttempt)
		want("a start", err, test.meaning)
		want("a download", receive(t, c, "https://store.test/1", &memory{}), test.store)
	}
	for kind := none + 1; kind < kindCount; kind++ {
		if !has[kind] {
			t.Errorf("no row means kind %d of reasons.go: add what does", kind)
		}
	}
}

func wantMeaning(t *testing.T, name string, err *Error, want meaning) {
	t.Helper()
	if got := (meaning{err.Reason, err.kind, err.MayHaveActed}); got != want {
		t.Errorf("%s: %v means %+v, want %+v", name, err, got, want)
	}
}
