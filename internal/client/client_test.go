// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestNewRefusesWhatCannotWork(t *testing.T) {
	tests := map[string]struct {
		config Config
		want   string
	}{
		"no base URL":                {Config{APIKey: testKey}, "base URL: it must be absolute, such as https://host.example/v1"},
		"a base URL with a password": {Config{BaseURL: "https://u:" + marked + "@h/v1", APIKey: testKey}, "base URL: it must not hold a user name or password"},
		"no key":                     {Config{BaseURL: "https://h/v1"}, "API key: it is empty"},
		"a key with a line break":    {Config{BaseURL: "https://h/v1", APIKey: testKey + "\n"}, "API key: it has white space inside"},
		"certificates that are none": {Config{BaseURL: "https://h/v1", APIKey: testKey, RootCAs: []byte("-----BEGIN")}, "no certificate could be read from the PEM text"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := New(test.config)
			if c != nil || err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Fatalf("got %v, %v; want %q", c, err, test.want)
			}
			checkShown(t, err.Error())
		})
	}
}

func TestNewFillsInWhatIsNotConfigured(t *testing.T) {
	c, err := New(Config{BaseURL: "https://h/v1", APIKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	if c.requestTimeout != DefaultRequestTimeout || c.maxRetries != DefaultMaxRetries {
		t.Errorf("the request timeout is %s and the retries %d", c.requestTimeout, c.maxRetries)
	}
	if r := c.random(); r < 0 || r >= 1 {
		t.Errorf("random gives %v", r)
	}
	if d := time.Since(c.Now()).Abs(); d > time.Minute {
		t.Errorf("the clock is %s off", d)
	}
	// A logger that was not configured takes everything.
	c.log.Debug(t.Context(), "", nil)
	c.log.Info(t.Context(), "", nil)
	c.log.Warn(t.Context(), "", nil)
	if transport, ok := c.api.Transport.(*http.Transport); !ok || transport.MaxIdleConnsPerHost != idleConnections {
		t.Errorf("the transport is %v", c.api.Transport)
	}
}

func TestNewMakesNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serve(t, reset)
		synctest.Wait()
		if s.dialed() != 0 {
			t.Errorf("%d connections", s.dialed())
		}
	})
}
