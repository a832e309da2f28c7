// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bench

import (
	"testing"
	"testing/synctest"
)

// inBubble runs f in virtual time. synctest wants a *testing.T, which a
// benchmark does not have, so this makes one.
func inBubble(b *testing.B, f func(t *testing.T)) {
	b.Helper()
	all := func(_, _ string) (bool, error) { return true, nil }
	if !testing.RunTests(all, []testing.InternalTest{{
		Name: b.Name(),
		F:    func(t *testing.T) { synctest.Test(t, f) },
	}}) {
		b.Fatal("the simulation failed")
	}
}
