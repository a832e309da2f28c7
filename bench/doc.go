// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package bench measures the provider and its client beside what else one could
// use, in one run and on the same load. All of it is in the tests:
//
//	go test -run '^$' -bench . -benchtime 1x .
//
// prints each figure, and go run ./cmd/report holds them against the goals.
// What runs the real CLI, the provider or curl takes its figures from Linux's
// /proc. The providers to compare with come from the registry or, with -peers,
// from a directory that `terraform providers mirror` has filled.
//
// This is a module of its own so that the peers are no dependencies of the
// provider.
package bench
