// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import "slices"

// maxOwned is how many digests of files, and of directories, are kept. A runner with a
// persistent disk may hold a bundle from that many updates ago.
const maxOwned = 20

// Owned holds what one resource wrote: files by their checksums, and directories by their
// content digests, oldest first. What is on disk is the resource's own if its digest is
// among them.
type Owned struct {
	Files []Written `json:"files,omitempty"`
	Trees []Written `json:"trees,omitempty"`
}

// Written is a file or a directory that was put in place.
type Written struct {
	Digest string `json:"digest"`
	// Time is its modification time in nanoseconds since 1970; zero if it is not known. What
	// another resource has put in place since is newer.
	Time int64 `json:"time,omitempty"`
}

// Add adds the digests of the bundle that was written last, unless they are known. An empty
// one is left out.
func (o *Owned) Add(file, content string) {
	o.Files = withDigest(o.Files, file)
	o.Trees = withDigest(o.Trees, content)
}

func withDigest(written []Written, digest string) []Written {
	if digest == "" || len(written) > 0 && written[len(written)-1].Digest == digest {
		return written
	}
	return withLatest(written, Written{Digest: digest})
}

func withLatest(written []Written, latest Written) []Written {
	others := slices.DeleteFunc(slices.Clone(written), func(w Written) bool { return w.Digest == latest.Digest })
	return append(others, latest)[max(0, len(others)+1-maxOwned):]
}
