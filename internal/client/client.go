// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package client talks to the external REST API of the documentation hosting
// service: it reads updates, runs static exports and fetches their bundles.
// It does authentication, retries, limits and polling, and it makes typed
// errors of whatever the service answers. It knows nothing of Terraform.
package client

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"
)

const (
	// DefaultRequestTimeout bounds one attempt of one request.
	DefaultRequestTimeout = 30 * time.Second
	// DefaultMaxRetries is how often a request is repeated after a failure
	// that may pass by itself.
	DefaultMaxRetries = 4
)

// Logger receives what the client has to say of its work. No message and no
// field ever holds the key or the query of a link.
type Logger interface {
	Debug(ctx context.Context, message string, fields map[string]any)
	Info(ctx context.Context, message string, fields map[string]any)
	Warn(ctx context.Context, message string, fields map[string]any)
}

// Config says how a Client reaches the service. BaseURL and APIKey are
// required, everything else has a default.
type Config struct {
	// BaseURL is where the paths of the API begin, version segment included
	// (API document, section 9). See [ParseBaseURL] for its rules.
	BaseURL string
	// APIKey is the bearer token (section 5). See [CheckAPIKey].
	APIKey    string
	UserAgent string
	// RootCAs are PEM certificates to trust beside those of the system.
	RootCAs []byte
	// HTTPClient gives the transport; RootCAs is then its maker's business.
	HTTPClient *http.Client
	Clock      Clock
	Logger     Logger
	// RequestTimeout bounds one attempt; DefaultRequestTimeout if zero.
	RequestTimeout time.Duration
	// MaxRetries bounds the repetitions of one request after connection
	// errors and 5xx; DefaultMaxRetries if nil. Answers of 429 do not count:
	// they are waited out until the operation's deadline.
	MaxRetries *int
	// Random returns numbers in [0, 1) for jitter.
	Random func() float64
}

// Client is safe for concurrent use. All its requests share one connection
// pool and one [gate].
type Client struct {
	baseURL        *url.URL
	apiKey         string
	userAgent      string
	api            *http.Client
	once           *http.Client // for calls that must not be repeated
	storage        *http.Client
	clock          Clock
	log            Logger
	gate           *gate
	requestTimeout time.Duration
	maxRetries     int
	random         func() float64
	skew           skew
}

// New checks the configuration and returns a client. It makes no request.
func New(config Config) (*Client, error) {
	baseURL, err := ParseBaseURL(config.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if err := CheckAPIKey(config.APIKey); err != nil {
		return nil, fmt.Errorf("API key: %w", err)
	}
	c := &Client{
		baseURL:        baseURL,
		apiKey:         config.APIKey,
		userAgent:      config.UserAgent,
		clock:          config.Clock,
		log:            config.Logger,
		requestTimeout: config.RequestTimeout,
		maxRetries:     DefaultMaxRetries,
		random:         config.Random,
	}
	if c.clock == nil {
		c.clock = systemClock{}
	}
	if c.log == nil {
		c.log = silent{}
	}
	if c.requestTimeout == 0 {
		c.requestTimeout = DefaultRequestTimeout
	}
	if config.MaxRetries != nil {
		c.maxRetries = *config.MaxRetries
	}
	if c.random == nil {
		c.random = rand.Float64
	}
	var transport http.RoundTripper
	if config.HTTPClient != nil {
		transport = config.HTTPClient.Transport
	} else if transport, err = newTransport(config.RootCAs); err != nil {
		return nil, err
	}
	c.gate = newGate(c.clock)
	c.api = &http.Client{Transport: transport, CheckRedirect: sameHostOnly}
	c.once = &http.Client{Transport: withoutReuse(transport), CheckRedirect: sameHostOnly}
	c.storage = &http.Client{Transport: transport, CheckRedirect: storageRedirect}
	return c, nil
}

// call is one request to the API, as an endpoint method describes it.
type call struct {
	method string
	// path holds the unescaped elements below the base URL.
	path []string
	// body is the JSON to send, or nil.
	body json.RawMessage
	// once marks the request that must not be repeated unless the service
	// certainly did not act on it.
	once bool
}

// url returns the call's URL, each path element escaped so that it reaches the
// server as that one element, whatever is in it.
func (c *Client) url(path []string) *url.URL {
	u := *c.baseURL
	escaped := u.EscapedPath()
	for _, element := range path {
		u.Path += "/" + element
		escaped += "/" + escapeElement(element)
	}
	u.RawPath = escaped
	return &u
}

// escapeElement is url.PathEscape for elements that may also be "." or "..",
// which a server or a proxy would resolve (RFC 3986, section 5.2.4).
func escapeElement(element string) string {
	switch element {
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return url.PathEscape(element)
}

type silent struct{}

func (silent) Debug(context.Context, string, map[string]any) {}
func (silent) Info(context.Context, string, map[string]any)  {}
func (silent) Warn(context.Context, string, map[string]any)  {}
