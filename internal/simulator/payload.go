// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

// payload is the answer of a request with a fault.
type payload struct {
	status int
	header http.Header
	body   io.Reader
	size   int64 // of body
}

// payload makes the answer out of the real one and what the fault replaces.
func (f Fault) payload(answer recordedAnswer) payload {
	header, content := http.Header{}, []byte(f.Body)
	if f.Status == 0 {
		header = answer.Header()
		if f.Body == "" && f.Repeat == 0 {
			content = answer.body
		}
	} else if strings.HasPrefix(f.Body, "{") || strings.HasPrefix(f.Body, "[") {
		header.Set("Content-Type", "application/json")
	}
	p := payload{status: cmp.Or(f.Status, answer.status), header: header}
	p.body, p.size = f.repeated(content)
	if f.Gzip {
		header.Set("Content-Encoding", "gzip")
	}
	maps.Copy(header, f.Header)
	return p
}

// repeated returns the body to send. A long body is never in memory whole; a
// long compressed one is a chain of equal gzip members, which costs nothing.
func (f Fault) repeated(content []byte) (io.Reader, int64) {
	const blockSize = 1 << 20
	copies := int64(1)
	if f.Repeat > 0 {
		if len(content) == 0 {
			content = []byte("x")
		}
		content = bytes.Repeat(content, max(blockSize/len(content), 1))
		if !f.Gzip {
			return io.LimitReader(&endless{content: content}, f.Repeat), f.Repeat
		}
		copies = max(f.Repeat/int64(len(content)), 1)
	}
	if f.Gzip {
		content = compressed(content)
	}
	size := copies * int64(len(content))
	return io.LimitReader(&endless{content: content}, size), size
}

func compressed(content []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(content) // a bytes.Buffer takes everything
	_ = z.Close()
	return out.Bytes()
}

// endless reads the same content again and again.
type endless struct {
	content []byte
	at      int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		copied := copy(p[n:], e.content[e.at:])
		n += copied
		e.at = (e.at + copied) % len(e.content)
	}
	return n, nil
}

// sendFaulty writes the answer, cut and delayed as the fault says.
func (s *Service) sendFaulty(w http.ResponseWriter, r *http.Request, f Fault, p payload) {
	maps.Copy(w.Header(), p.header)
	w.Header().Del("Content-Length")
	send := p.size
	if f.ContentLength >= 0 {
		declared := cmp.Or(f.ContentLength, p.size)
		send = min(send, declared)
		w.Header().Set("Content-Length", strconv.FormatInt(declared, 10))
	}
	if f.TruncateBody != 0 {
		send = min(send, max(f.TruncateBody, 0))
	}
	w.WriteHeader(p.status)
	control := http.NewResponseController(w)
	if f.ContentLength < 0 {
		_ = control.Flush() // else net/http declares the length of a short body
	}
	if f.DelayBody > 0 {
		first := send / 2
		_, _ = io.CopyN(w, p.body, first) // net/http notes clients that have left
		_ = control.Flush()
		if s.pause(r.Context(), f.DelayBody) != nil {
			cut(w, true)
			return
		}
		send -= first
	}
	_, _ = io.CopyN(w, p.body, send)
	if f.TruncateBody != 0 {
		_ = control.Flush()
		cut(w, false)
	}
}
