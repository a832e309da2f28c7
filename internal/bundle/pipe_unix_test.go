// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package bundle

import (
	"os"
	"syscall"
	"testing"
)

func TestPipeIsForeignAndNotOpened(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	d.put(siteOf(t, "1"), Request{Create: true})
	must(t, os.Remove(d.Path))
	must(t, syscall.Mkfifo(d.Path, 0o600))
	must(t, syscall.Mkfifo(d.path("site/pipe"), 0o600))
	findings, err := d.Inspect(t.Context(), d.owned)
	want := Findings{Finding{Foreign, "it is not a regular file"}, Finding{Foreign, `"pipe" is not a regular file`}}
	if err != nil || findings != want {
		t.Errorf("found %+v, error %v, want %+v", findings, err, want)
	}
	if _, err := Describe(t.Context(), d.Path); err == nil {
		t.Error("a pipe was described")
	}
	_, err = d.Remove(t.Context(), d.owned)
	must(t, err)
	if mode := modeOf(t, d.Path); mode.Type() != os.ModeNamedPipe {
		t.Errorf("the pipe is now %s", mode)
	}
}
