package client

import (
	"net/http"
	"time"
)

// Reason is why a call failed, for advice: failures that call for the same advice have the same reason. The contract
// leaves open what the service means by a status, so the reasons rely on HTTP and documented rules.
type Reason int

// The reasons.
const (
	ReasonNone Reason = iota // not about a request

	ReasonRejected     // the service does not accept the request
	ReasonUnauthorized // it does not accept the API key
	ReasonForbidden    // the API key or the subscription does not allow the request
	ReasonNotFound     // the job, bundle, or update does not exist, or no longer exists
	ReasonConflict     // the request conflicts with the state of a job or site
	ReasonTooLarge     // the request is too large
	ReasonRateLimited
	ReasonOverloaded  // the service or the object store refuses requests for now, perhaps to limit them
	ReasonUnavailable // the service or the object store failed, and may be back soon
	ReasonRedirected  // to a host or a scheme that may not receive the API key, or with another method
	ReasonNotTheAPI   // something else responded, such as a website, a proxy, or a network that requires signing in
	ReasonOffContract // the response is JSON, but unusable

	ReasonProxyCredentials  // a proxy asks for credentials
	ReasonProxyRefused      // a proxy does not connect to the host
	ReasonUntrusted         // the certificate of the server is not trusted
	ReasonClientCertificate // the server asks for a client certificate
	ReasonPlainHTTP         // the server of an https URL does not use TLS
	ReasonNoResponse        // the service was not reached, or the connection was lost
	ReasonTooSlow           // no complete response within the request timeout

	ReasonStoreNoResponse // the object store was not reached, or did not respond
	ReasonNotTheStore     // something else responded, or the link leads to the wrong store
	ReasonLinkRefused     // the object store refuses the link, or has no such object

	ReasonOutage // attempts failed in different ways

	ReasonCount // the number of reasons, for tests
)

// kind is what a failure says about another attempt.
type kind int

const (
	none        kind = iota // no failure
	permanent               // not about a response: another attempt would fail as well
	ended                   // the context of the call ended
	throttled               // a 429, or what means the same: only the deadline limits the retries
	unready                 // no failure: the result is not there yet, and [poll] asks for it again
	unconnected             // no connection was made, so nothing was sent
	temporary               // the service, its node, or the network may be back soon
	notFound                // the service does not know what the request names
	linkRefused             // the object store refuses the link, or returns no bundle
	refused                 // any other response, and a server or proxy that cannot be used
	kindCount
)

// meaning is what a response or its absence means: for the user, for another attempt, and for the start of an export.
type meaning struct {
	reason Reason
	kind   kind
	acted  bool // the service may have acted on the request
}

var (
	// notJSON is a success that is not JSON. A proxy may send it after the service has acted.
	notJSON = meaning{ReasonNotTheAPI, temporary, true}
	// offContract is a success that breaks the contract. The next response probably will, too.
	offContract = meaning{ReasonOffContract, refused, true}
	// notReady is an accepted request for a link that is not there yet. It has no reason, as a running job has none.
	notReady = meaning{ReasonNone, unready, true}
	// pageInstead is "forbidden" or "not found" with a web page, of which the API has none: something else sent it.
	pageInstead = meaning{ReasonNotTheAPI, refused, false}
)

// statuses holds what a response of the API means by its status. [meaningOf] covers all others.
var statuses = map[int]meaning{
	// These three may follow a POST that was acted on (RFC 9110, section 15.4).
	http.StatusMovedPermanently: {ReasonRedirected, refused, true},
	http.StatusFound:            {ReasonRedirected, refused, true},
	http.StatusSeeOther:         {ReasonRedirected, refused, true},

	http.StatusUnauthorized:          {ReasonUnauthorized, refused, false},
	http.StatusPaymentRequired:       {ReasonForbidden, refused, false},
	http.StatusForbidden:             {ReasonForbidden, refused, false},
	http.StatusNotFound:              {ReasonNotFound, notFound, false},
	http.StatusMethodNotAllowed:      {ReasonNotTheAPI, refused, false},
	http.StatusProxyAuthRequired:     {ReasonProxyCredentials, refused, false},
	http.StatusRequestTimeout:        {ReasonUnavailable, temporary, true}, // of a proxy, if what is behind it is slow
	http.StatusConflict:              {ReasonConflict, temporary, true},    // a gateway may have repeated the POST
	http.StatusGone:                  {ReasonNotFound, notFound, false},
	http.StatusRequestEntityTooLarge: {ReasonTooLarge, refused, false},
	http.StatusTooManyRequests:       {ReasonRateLimited, throttled, false},
	http.StatusServiceUnavailable:    {ReasonOverloaded, temporary, true},

	http.StatusNotImplemented:                {ReasonNotTheAPI, refused, false},
	http.StatusHTTPVersionNotSupported:       {ReasonNotTheAPI, refused, false},
	http.StatusNetworkAuthenticationRequired: {ReasonNotTheAPI, refused, false},
}

// meaningOf returns what a response of the API means by its status, and by how long it asks to wait.
func meaningOf(status int, asks time.Duration) meaning {
	class := status / 100
	means, known := statuses[status]
	switch {
	case known:
	case class == 1:
		means = meaning{ReasonRejected, refused, true}
	case class == 2, class == 4:
		means = meaning{ReasonRejected, refused, false}
	case class == 3:
		means = meaning{ReasonRedirected, refused, false}
	default:
		means = meaning{ReasonUnavailable, temporary, true} // a gateway may send it after the service has acted
	}
	if class == 4 && means.kind == refused && asks > 0 { // some services limit requests by another status
		means.kind = throttled
		if means.reason != ReasonUnauthorized {
			means.reason = ReasonRateLimited
		}
	}
	return means
}

// storeMeaningOf returns what a response of the object store without a bundle means by its status. Most refusals mean
// that the link has expired, or that the store does not have the object yet.
func storeMeaningOf(status int, asks time.Duration) meaning {
	m := meaningOf(status, asks)
	m.acted = false // nothing that matters
	switch {
	case m.kind == throttled, m.reason == ReasonUnavailable, m.reason == ReasonOverloaded:
	case status/100 == 2:
		m.reason, m.kind = ReasonNotTheStore, linkRefused
	case status/100 == 4:
		m.reason, m.kind = ReasonLinkRefused, linkRefused
	default:
		m.reason, m.kind = ReasonNotTheStore, refused
	}
	return m
}
