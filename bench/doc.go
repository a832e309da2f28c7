// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package bench measures the provider and its client beside what else one could
// use, in one run and on the same load. All of it is in the tests:
//
//	go test -run '^$' -bench . -benchtime 1x .
//
// prints each figure, and go run ./cmd/report holds them against the goals.
// This is a module of its own so that the peers are no dependencies of the
// provider.
package bench
