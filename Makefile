# What a contributor does, one target each. `make` lists them.

MAKEFLAGS += --no-print-directory
SHELL := bash
.DEFAULT_GOAL := help

# Pinned tools that are too large for tools/go.mod; made in $(BIN) at first use.
GOLANGCI_LINT_VERSION := 2.15.0
GORELEASER_VERSION    := 2.16.0
VERSITYGW_VERSION     := 1.8.0

BIN   := .bin
BUILD := .build
TOOL  := go tool -modfile=$(CURDIR)/tools/go.mod
TF    ?= $(or $(firstword $(shell command -v terraform tofu)),terraform)

# OpenTofu reads an unqualified source address as one of its own registry.
REGISTRY := $(if $(findstring tofu,$(notdir $(TF))),registry.opentofu.org,registry.terraform.io)

GOLANGCI_LINT := $(BIN)/golangci-lint-$(GOLANGCI_LINT_VERSION)
GORELEASER    := $(BIN)/goreleaser-$(GORELEASER_VERSION)
VERSITYGW     := $(BIN)/versitygw-$(VERSITYGW_VERSION)

# Every directory with a go.mod: the provider, tools/ and whatever else is a module of its own.
MODULES := $(patsubst %/,%,$(dir $(wildcard go.mod */go.mod)))

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X main.version=$(VERSION:v%=%)

# `make test RACE=` leaves the race detector out, where there is no C compiler.
RACE     ?= -race
PROFILE  := $(BUILD)/coverage.out
COVERED  := internal/client internal/provider
COVERAGE := 90

# The program that prints the provider's schema as `terraform providers schema -json` would.
SCHEMA_PROGRAM := ./internal/schemajson
SCHEMA_JSON    := $(BUILD)/schema.json

REPORT := cd bench && go run ./cmd/report -cli '$(TF)' $(if $(PEERS),-peers '$(abspath $(PEERS))')

# What CI runs, in this order: the cheap first.
CHECKS := build fmt-check tidy-check lint test cover test-s3 docs-check demo

##@ Build

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-zA-Z0-9_.-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build every package, and the provider into .bin/
	go build ./...
	go build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/ .

.PHONY: install
install: ## Install the provider where `go install` puts programs
	go install -trimpath -ldflags '$(LDFLAGS)' .

.PHONY: dev.tfrc
dev.tfrc: build ## Write a CLI configuration that uses the provider in .bin/
	@printf 'provider_installation {\n  dev_overrides {\n    "docs-hosting/docs" = "%s"\n  }\n  direct {}\n}\n' '$(CURDIR)/$(BIN)' >$@
	@echo 'export TF_CLI_CONFIG_FILE=$(CURDIR)/$@   # then plan and apply, without init'

.PHONY: demo
demo: ## Export a site with the real CLI against the simulator (KEEP=1 keeps it up, TF=path picks the CLI)
	go build -o $(BIN)/demo ./internal/demo
	exec $(BIN)/demo -tf '$(TF)' $(if $(KEEP),-keep)

.PHONY: clean
clean: ## Remove everything that was built
	rm -rf $(BIN) $(BUILD) dist dev.tfrc

##@ Test

.PHONY: test
test: | $(BUILD) ## Run the unit and acceptance tests
	$(TOOL) gotestsum --format standard-quiet -- $(RACE) -coverprofile=$(PROFILE) ./...

.PHONY: cover
cover: ## Fail if the last `make test` covered too little
	scripts/coverage.sh $(PROFILE) $(COVERAGE) $(COVERED)

.PHONY: test-cli
test-cli: ## Run the tests of the provider and the examples under the CLI that TF names (terraform or tofu)
	TF_ACC_TERRAFORM_PATH='$(TF)' TF_ACC_PROVIDER_HOST=$(REGISTRY) go test ./internal/provider/... ./internal/doctest

.PHONY: fuzz
fuzz: ## Run each fuzz test for FUZZTIME (20s)
	scripts/fuzz.sh

.PHONY: soak
soak: ## Take ten thousand exports through their life against a faulty service
	go test ./internal/provider -run TestSoak -soak 10000 -timeout 30m -v

.PHONY: test-s3
test-s3: $(VERSITYGW) ## Run the tests that need a real S3 server
	cd s3test && go test -count=1 -timeout 3m . -versitygw '$(CURDIR)/$(VERSITYGW)'

.PHONY: bench
bench: ## Measure against the goals and write bench/results.md (TF=path, PEERS=mirror of the peers)
	$(REPORT) -write results.md

.PHONY: bench-plan
bench-plan: ## Measure plans of up to a thousand objects with the real CLI
	$(REPORT) Plan

##@ Check

.PHONY: check
check: ## Run everything that CI runs
	@scripts/check.sh $(CHECKS)

.PHONY: fmt
fmt: $(GOLANGCI_LINT) ## Format the Go and Terraform files
	$(GOLANGCI_LINT) fmt
	$(TF) fmt -recursive examples

.PHONY: fmt-check
fmt-check: $(GOLANGCI_LINT) ## Fail if `make fmt` would change a file
	$(GOLANGCI_LINT) fmt --diff
	$(TF) fmt -recursive -check -diff examples

.PHONY: tidy
tidy: ## Tidy every module
	for module in $(MODULES); do (cd $$module && go mod tidy) || exit 1; done

.PHONY: tidy-check
tidy-check: ## Fail if `make tidy` would change a file
	for module in $(MODULES); do (cd $$module && go mod tidy -diff && go mod verify) || exit 1; done

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Run the linters over every module and the workflows
	for module in $(filter-out tools,$(MODULES)); do (cd $$module && $(CURDIR)/$(GOLANGCI_LINT) run) || exit 1; done
	$(TOOL) actionlint

.PHONY: vuln
vuln: ## Look for known vulnerabilities (needs the network)
	for module in $(filter-out tools,$(MODULES)); do (cd $$module && $(TOOL) govulncheck ./...) || exit 1; done

##@ Documentation

.PHONY: docs
docs: | $(BUILD) ## Generate docs/ from the schema, templates/ and examples/
	go run $(SCHEMA_PROGRAM) >$(SCHEMA_JSON)
	$(TOOL) tfplugindocs generate --provider-name docs --providers-schema $(SCHEMA_JSON)

.PHONY: docs-check
docs-check: docs ## Fail if docs/ is not what `make docs` makes
	$(TOOL) tfplugindocs validate --provider-name docs --providers-schema $(SCHEMA_JSON)
	git diff --exit-code -- docs
	@untracked=$$(git status --porcelain -- docs); \
	if [ -n "$$untracked" ]; then printf 'not committed:\n%s\n' "$$untracked"; exit 1; fi

##@ Release

.PHONY: release-check
release-check: $(GORELEASER) ## Build a release without publishing it, twice, and compare
	GORELEASER='$(CURDIR)/$(GORELEASER)' scripts/release-check.sh

.PHONY: release
release: $(GORELEASER) ## Build, sign and upload a draft release (the release workflow does)
	$(GORELEASER) release --clean

$(BUILD):
	mkdir -p $@

# Named by version, so that a new pin is built anew.
$(GOLANGCI_LINT):
	GOBIN='$(CURDIR)/$(BIN)' go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(GOLANGCI_LINT_VERSION)
	mv $(BIN)/golangci-lint $@

$(GORELEASER):
	GOBIN='$(CURDIR)/$(BIN)' go install github.com/goreleaser/goreleaser/v2@v$(GORELEASER_VERSION)
	mv $(BIN)/goreleaser $@

$(VERSITYGW):
	GOBIN='$(CURDIR)/$(BIN)' go install github.com/versity/versitygw/cmd/versitygw@v$(VERSITYGW_VERSION)
	mv $(BIN)/versitygw $@
