# Everyday commands. `make` lists them. What CI runs is in .ci/run.

MAKEFLAGS += --no-print-directory
SHELL := bash
.DEFAULT_GOAL := help

# The CLI that every target uses, for example TF=tofu or TF=/path/to/terraform. If PATH has none, the targets that need one build OpenTofu.
TF ?= $(or $(firstword $(shell command -v terraform tofu)),$(TOFU))
CLI = $(filter $(TOFU),$(TF))
# The path is absolute, because tests run in other directories. If the CLI is missing, they fail. Only `make testacc` and `make verify-service` can use a real service.
TEST_CLI = TF_ACC=1 TF_ACC_TERRAFORM_PATH='$(or $(abspath $(shell command -v '$(TF)')),$(TF))'
TEST_ENV = $(TEST_CLI) DOCS_BASE_URL=
# The race detector needs a C compiler, without which Go turns CGO_ENABLED off. RACE= turns it off, too.
RACE ?= $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)
# The version that `make install` installs. The examples accept 0.1.x.
VERSION ?= 0.1.0

BIN      := .bin
TOFU     := $(BIN)/tofu
BUILD    := .build
PROFILE  := $(BUILD)/coverage.out
SCHEMA   := $(BUILD)/schema.json
COMPILE  := CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-X main.version=$(VERSION)'
PLUGINS  := $(HOME)/.terraform.d/plugins
MODULES  := $(patsubst %/,%,$(dir $(wildcard go.mod */go.mod)))
COVERED  := internal/export internal/client internal/client/display internal/bundle internal/provider
COVERAGE := 90

# Small tools are pinned in tools/go.mod, large ones here. Go builds each once and caches it.
TOOL       := go tool -modfile=$(CURDIR)/tools/go.mod
GOTESTSUM  = $(TEST_ENV) $(TOOL) gotestsum --format standard-quiet --
GOLANGCI   := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GORELEASER := github.com/goreleaser/goreleaser/v2@v2.16.0
GREMLINS   := go run github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
OPENTOFU   := github.com/opentofu/opentofu@v1.12.6
VERSITYGW  := github.com/versity/versitygw/cmd/versitygw@v1.8.0
RECORD     := TERM=xterm-256color asciinema rec --quiet --overwrite --idle-time-limit 2
DRAW       := npx --yes svg-term-cli@2.1.1 --window --no-cursor

##@ Use

.PHONY: help
help: ## List the commands
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9_.-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: | $(CLI) ## Run a demo against a simulated service (KEEP=1: leave the service running, TF=path: use that CLI)
	@KEEP='$(KEEP)' exec scripts/demo.sh '$(TF)'

.PHONY: install
install: ## Install the provider for the current user, so `terraform init` finds it
	@for registry in registry.terraform.io registry.opentofu.org; do \
		dir="$(PLUGINS)/$$registry/docs-hosting/docs/$(VERSION)/$$(go env GOOS)_$$(go env GOARCH)"; \
		$(COMPILE) -o "$$dir/terraform-provider-docs_v$(VERSION)$$(go env GOEXE)" . && echo "$$dir" || exit 1; \
	done

##@ Develop

.PHONY: build
build: provider ## Build every package, and the provider into .bin/
	go build ./...

.PHONY: provider
provider: ## Build the provider into .bin/
	$(COMPILE) -o $(BIN)/ .

.PHONY: dev.tfrc
dev.tfrc: provider ## Write a CLI configuration that uses the provider in .bin/ without `terraform init`
	@printf 'provider_installation {\n  dev_overrides {\n    "docs-hosting/docs" = "%s"\n  }\n  direct {}\n}\n' '$(CURDIR)/$(BIN)' >$@
	@echo 'export TF_CLI_CONFIG_FILE=$(CURDIR)/$@'

.PHONY: fmt
fmt: | $(CLI) ## Format the Go and Terraform files (the first run builds the linter, which takes minutes)
	$(GOLANGCI) fmt
	'$(TF)' fmt -recursive examples

.PHONY: tidy
tidy: ## Tidy every Go module
	for module in $(MODULES); do (cd $$module && go mod tidy) || exit 1; done

.PHONY: docs
docs: | $(BUILD) ## Generate docs/ from the schema, templates/, and examples/
	go run ./internal/schemajson >$(SCHEMA)
	$(TOOL) tfplugindocs generate --provider-name docs --providers-schema $(SCHEMA)

.PHONY: images
images: diagrams recordings ## Draw the pictures in assets/ again if their sources have changed

.PHONY: diagrams
diagrams: $(patsubst %.dot,%.svg,$(wildcard assets/*.dot)) ## Draw the diagrams whose sources have changed (needs Graphviz)

assets/%.svg: assets/%.dot
	dot -Tsvg $< -o $@

.PHONY: recordings
recordings: assets/demo.svg ## Record the demo if its sources have changed (needs asciinema and npm)

# Git gives a clone's files times in no useful order, so only a change that is not committed counts.
changed = $(shell git ls-files --modified -- internal/provider/summaries.go $(1) 2>/dev/null)

assets/demo.svg: $(call changed,scripts/demo.sh examples/quickstart/main.tf) | $(BUILD)
	$(RECORD) --cols 100 --rows 36 --command 'clear; echo "$$ make demo"; make demo; sleep 2; echo' $(BUILD)/demo.cast
	$(DRAW) --in $(BUILD)/demo.cast --out $@

.PHONY: clean
clean: ## Remove all build output
	rm -rf $(BIN) $(BUILD) dist dev.tfrc

##@ Test

.PHONY: test
test: | $(BUILD) $(CLI) ## Run the unit and acceptance tests
	@echo 'A package is listed when its tests have passed. The first run builds for minutes, a later one takes a minute.'
	@# With the race detector, the examples would take five times as long.
	$(GOTESTSUM) $(RACE) -coverprofile=$(PROFILE) $$(go list ./... | grep -v -e internal/doctest -e internal/walk); raced=$$?; \
	$(GOTESTSUM) ./internal/doctest && exit $$raced

.PHONY: cover
cover: ## Fail if the coverage of the last `make test` is too low
	scripts/coverage.sh $(PROFILE) $(COVERAGE) $(COVERED)

.PHONY: test-cli
test-cli: | $(CLI) ## Run the packages with most tests of the CLI (TF=tofu)
	$(TEST_ENV) go test ./internal/provider ./internal/doctest ./internal/schemajson

.PHONY: testacc
testacc: | $(CLI) ## Run the acceptance tests against the service of DOCS_BASE_URL, or a simulated one
	$(TEST_CLI) go test ./internal/provider -run '^TestAcc' -v -count 1 -parallel 1 -timeout 120m

.PHONY: verify-service
verify-service: | $(BUILD) $(CLI) ## Verify a real service and report what it does (DOCS_BASE_URL, DOCS_API_KEY, DOCS_DOMAIN, DOCS_STATUS_ID)
	@: "$${DOCS_BASE_URL:?set this variable}" "$${DOCS_API_KEY:?set this variable}" "$${DOCS_DOMAIN:?set this variable}"
	@go test -c -o $(BUILD)/verify.test ./internal/verify && rm -f $(BUILD)/service-report.md
	@echo "This runs the provider against $$DOCS_BASE_URL and sends:"
	@echo "  - 1 request that starts an export of $$DOCS_DOMAIN; the API cannot delete the job"
	@echo "  - the polls of the job, every 1 to 15 seconds"
	@echo "  - 3 requests for a link to the bundle, and 2 downloads"
	@echo "  - 3 reads that must be refused: with a wrong API key, and of a job and an update that do not exist"
	@[ -z "$$DOCS_STATUS_ID" ] || echo "  - 1 read of the update $$DOCS_STATUS_ID"
	@echo "The provider repeats a failed request, but the start only if the service is known not to have acted on it."
	@echo "Files are written to a temporary directory, and deleted at the end."
	@[ "$$YES" = 1 ] || { read -rp 'Type yes to continue: ' yes && [ "$$yes" = yes ]; } || { echo 'Nothing was sent.'; exit 1; }
	@TF_ACC_TERRAFORM_PATH='$(TF)' COMMIT="$$(git describe --always --dirty)" $(BUILD)/verify.test \
		-test.run '^TestService$$' -test.timeout 4h -report $(BUILD)/service-report.md; status=$$?; \
	cat $(BUILD)/service-report.md 2>/dev/null && echo && echo 'This report is in $(BUILD)/service-report.md.'; exit $$status

.PHONY: test-s3
test-s3: ## Run the download tests against a real S3 server
	GOBIN='$(CURDIR)/$(BIN)' go install $(VERSITYGW)
	cd s3test && go test -count=1 -timeout 3m . -versitygw '$(CURDIR)/$(BIN)/versitygw'

.PHONY: walk
walk: | $(CLI) ## Run the random simulation: a few walks, or for TIME (1h), from seed FROM (1); SEED=n repeats one
	$(TEST_ENV) go test ./internal/walk -v -count 1 -timeout 0 -args -walk-from $(or $(SEED),$(FROM),1) $(if $(SEED),-walk-seeds 1) $(if $(TIME),-walk-seeds 1000000 -walk-time $(TIME))

.PHONY: fuzz
fuzz: ## Run each fuzz test for FUZZTIME (20s)
	git grep -oE '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' | while IFS=: read -r file name; do \
		go test -run '^$$' -fuzz "^$${name#func }$$" -fuzztime $(or $(FUZZTIME),20s) "./$${file%/*}" || exit 1; \
	done

.PHONY: mutate
mutate: ## Run mutation tests: list the code changes that no test catches (PKG=./internal/client)
	$(GREMLINS) unleash $(or $(PKG),./internal/client) --workers 2 --timeout-coefficient 20

.PHONY: bench
bench: ## Run the benchmarks COUNT times (1): polling, rate limits, and downloads
	cd bench && go test -run '^$$' -bench . -count $(or $(COUNT),1) -timeout 60m ./...

##@ Check

.PHONY: check
check: ## Run the checks in .ci/run, as CI does
	.ci/run

.PHONY: lint
lint: ## Run golangci-lint on every module
	for module in $(filter-out tools,$(MODULES)); do (cd $$module && $(GOLANGCI) run) || exit 1; done

.PHONY: fmt-check
fmt-check: | $(CLI) ## Fail if `make fmt` would change a Terraform file
	'$(TF)' fmt -recursive -check -diff examples

.PHONY: tidy-check
tidy-check: ## Fail if `make tidy` would change a file
	for module in $(MODULES); do (cd $$module && go mod tidy -diff) || exit 1; done

.PHONY: docs-check
docs-check: docs ## Fail if docs/ is not up to date
	$(TOOL) tfplugindocs validate --provider-name docs --providers-schema $(SCHEMA)
	@changed=$$(git status --porcelain -- docs); \
	if [ -n "$$changed" ]; then printf 'Run make docs and commit:\n%s\n' "$$changed"; git diff -- docs; exit 1; fi

.PHONY: vuln
vuln: ## Scan for known vulnerabilities (needs the network)
	for module in $(filter-out tools,$(MODULES)); do (cd $$module && $(TOOL) govulncheck ./...) || exit 1; done

##@ Release

.PHONY: release-check
release-check: ## Build a release twice without publishing it, and compare the archives
	GOBIN='$(CURDIR)/$(BIN)' go install $(GORELEASER)
	scripts/release-check.sh '$(CURDIR)/$(BIN)/goreleaser'

.PHONY: release
release: ## Build, sign, and upload a draft release (for the release workflow)
	go run $(GORELEASER) release --clean

$(BUILD):
	mkdir -p $@

# A module that replaces others, as this one does, cannot be built with `go install`.
$(TOFU):
	@echo 'Neither terraform nor tofu is on PATH. Building $(OPENTOFU) into $@, once, which takes 3 to 10 minutes.'
	@go mod download $(OPENTOFU)
	@CGO_ENABLED=0 go build -C "$$(go env GOMODCACHE)/$(OPENTOFU)" -o '$(CURDIR)/$@' -ldflags '-X github.com/opentofu/opentofu/version.dev=no' ./cmd/tofu
