package client

import (
	"errors"
	"net/http"
	"time"
)

// This file alone says what a failure means: for another attempt, for the start of an export, and for the user.

// Reason is why a call failed, for advice: failures that call for the same advice have the same reason. The contract
// leaves open what the service means by a status, so the reasons rely on HTTP and documented rules.
type Reason int

// The reasons.
const (
	ReasonNone Reason = iota // not about a request, or the caller ended it

	ReasonRejected     // the service does not accept the request
	ReasonUnauthorized // it does not accept the API key
	ReasonForbidden    // the API key or the subscription does not allow the request
	ReasonNotFound     // the job, bundle, or update does not exist, or no longer exists
	ReasonConflict     // the request conflicts with the state of a job or site
	ReasonTooLarge     // the request is too large
	ReasonRateLimited
	ReasonUnavailable // the service or the object store may be back soon
	ReasonRedirected  // to a host or a scheme that may not receive the API key, or with another method
	ReasonNotTheAPI   // something else responded, such as a website or a proxy
	ReasonOffContract // the response is JSON, but unusable

	ReasonProxyCredentials // a proxy asks for credentials
	ReasonUntrusted        // the certificate of the server is not trusted
	ReasonPlainHTTP        // the server of an https URL does not use TLS
	ReasonNoResponse       // the service was not reached, or did not respond

	ReasonStoreNoResponse // the object store was not reached, or did not respond
	ReasonNotTheStore     // something else responded, or the link leads to the wrong store
	ReasonLinkRefused     // the object store refuses the link, or has no such object

	ReasonOutage // a call gave up after failures of different kinds
)

// kind is what a failure says about another attempt.
type kind int

const (
	permanent   kind = iota // not about a response: another attempt would fail as well
	throttled               // a 429: only the deadline limits the retries
	unconnected             // no connection was made, so nothing was sent
	temporary               // the service, its node, or the network may be back soon
	notFound                // the service does not know what the request names
	linkRefused             // the object store refuses the link, or returns no bundle
	refused                 // any other response, and a server or proxy that cannot be used
	kindCount
)

// meaning is what a response or its absence means.
type meaning struct {
	reason Reason
	kind   kind
	acted  bool // the service may have acted on the request
}

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
	http.StatusConflict:              {ReasonConflict, refused, true},      // a gateway may have repeated the POST
	http.StatusGone:                  {ReasonNotFound, notFound, false},
	http.StatusRequestEntityTooLarge: {ReasonTooLarge, refused, false},
	http.StatusTooEarly:              {ReasonUnavailable, temporary, false},
	http.StatusTooManyRequests:       {ReasonRateLimited, throttled, false},

	http.StatusNotImplemented:          {ReasonNotTheAPI, refused, false},
	http.StatusHTTPVersionNotSupported: {ReasonNotTheAPI, refused, false},
}

// meaningOf returns what a response of the API means by its status.
func meaningOf(status int) meaning {
	if known, ok := statuses[status]; ok {
		return known
	}
	switch status / 100 {
	case 1:
		return meaning{ReasonRejected, refused, true}
	case 2, 4:
		return meaning{ReasonRejected, refused, false}
	case 3:
		return meaning{ReasonRedirected, refused, false}
	}
	return meaning{ReasonUnavailable, temporary, true} // a gateway may send it after the service has acted
}

// failure is what the error of an attempt means.
type failure struct {
	meaning
	retryAfter time.Duration // that the service requests; zero for none
	progress   bool          // the attempt did part of the work, so earlier failures no longer count
}

// classify returns what the error of an attempt, or of a call, means.
func classify(err error) failure {
	if e, ok := errors.AsType[*Error](err); ok {
		return failure{meaning: meaning{reason: e.Reason}}
	}
	if e, ok := errors.AsType[*APIError](err); ok {
		return failure{meaning: e.meaning(), retryAfter: e.RetryAfter}
	}
	if e, ok := errors.AsType[*UnexpectedResponseError](err); ok {
		return failure{meaning: e.meaning()}
	}
	if e, ok := errors.AsType[*ConnectionError](err); ok {
		return failure{meaning: e.meaning(), progress: e.Progress}
	}
	if e, ok := errors.AsType[*StorageError](err); ok {
		return failure{meaning: e.meaning(), retryAfter: e.RetryAfter}
	}
	if errors.Is(err, ErrOutage) {
		return failure{meaning: meaning{reason: ReasonOutage}}
	}
	return failure{}
}

func (e *APIError) meaning() meaning {
	m := meaningOf(e.StatusCode)
	if m.reason == ReasonNotFound && e.Page { // the API has no pages
		return meaning{ReasonNotTheAPI, refused, false}
	}
	return m
}

func (e *UnexpectedResponseError) meaning() meaning {
	if e.NotJSON {
		return meaning{ReasonNotTheAPI, temporary, true} // a proxy may send it after the service has acted
	}
	return meaning{ReasonOffContract, refused, true} // and the next response probably will be, too
}

func (e *ConnectionError) meaning() meaning {
	switch {
	case e.Untrusted:
		return meaning{ReasonUntrusted, refused, e.Sent}
	case e.ProxyStatus == http.StatusProxyAuthRequired:
		return meaning{ReasonProxyCredentials, refused, e.Sent}
	case e.PlainHTTP && e.Storage:
		return meaning{ReasonNotTheStore, refused, e.Sent}
	case e.PlainHTTP:
		return meaning{ReasonPlainHTTP, refused, e.Sent}
	case e.Storage:
		return meaning{ReasonStoreNoResponse, temporary, e.Sent}
	case e.Sent:
		return meaning{ReasonNoResponse, temporary, true}
	}
	return meaning{ReasonNoResponse, unconnected, false}
}

// meaning takes most refusals for a link that has expired, or an object that the store does not have yet.
func (e *StorageError) meaning() meaning {
	m := meaningOf(e.StatusCode)
	switch {
	case m.kind == throttled, m.kind == temporary:
		return meaning{m.reason, m.kind, false}
	case e.StatusCode/100 == 2:
		return meaning{ReasonNotTheStore, linkRefused, false}
	case e.StatusCode/100 == 4:
		return meaning{ReasonLinkRefused, linkRefused, false}
	}
	return meaning{ReasonNotTheStore, refused, false}
}

// ReasonOf returns why a call failed.
func ReasonOf(err error) Reason { return classify(err).reason }

// IsNotFound reports whether err is a response that says that the job, bundle, or update does not exist, or no longer
// exists. The response must come from the API, so its body must not be a web page.
func IsNotFound(err error) bool { return ReasonOf(err) == ReasonNotFound }

// MayHaveStarted reports whether [Client.StartStaticExport] may have started a job even though it failed with err.
func MayHaveStarted(err error) bool { return classify(err).acted }
