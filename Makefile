# ragd: `make help` lists the targets.
SHELL    := /bin/bash
GO       ?= go
TAGS     := sqlite_fts5
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X main.version=$(VERSION)
# Two at a time: a compile of SQLite needs about 1 GB.
JOBS     ?= 2
KB_ROOT  ?=
FUZZTIME ?= 20s
# A folder of real documents with a MANIFEST.tsv (docs/extraction.md).
REALFILES ?=
export GOFLAGS := -tags=$(TAGS) -buildvcs=false

.PHONY: help build run test check bench bench-extract fuzz picture walk install eval clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

build: ## build bin/ragd and bin/ragtui
	@mkdir -p bin
	$(GO) build -p $(JOBS) -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/ragd ./cmd/ragtui

run: build ## run the daemon: make run KB_ROOT=~/knowledge
	KB_ROOT='$(KB_ROOT)' ./bin/ragd serve

test: ## vet and run every test with the race detector
	$(GO) vet ./...
	$(GO) test -race -p $(JOBS) -timeout 10m ./...
	REALFILES='$(abspath $(REALFILES))' $(GO) test -run '^Test(Scores|BombsEndInTheirOwnJob)$$' -timeout 10m ./internal/extract

check: test ## test, and also: format, lint, tidy without drift
	@test -z "$$(gofmt -l cmd indexer internal kbroot mcpserver watcher)" || { echo "not gofmt'd:"; gofmt -l cmd indexer internal kbroot mcpserver watcher; exit 1; }
	$(GO) mod tidy -diff
	@if command -v golangci-lint >/dev/null; then golangci-lint run; else echo "golangci-lint is not installed: lint skipped"; fi

bench: build ## measure what docs/benchmarks.md reports
	$(GO) test -run '^$$' -bench . -benchtime 2s -p 1 ./...

bench-extract: ## score the readers beside other tools' output: make bench-extract REALFILES=DIR
	REALFILES='$(abspath $(REALFILES))' $(GO) test -run '^TestScores$$' -count=1 -v ./internal/extract

# Folders in BEIR layout, each a set.
EVAL_SETS ?= cmd/ragd/testdata/eval

eval: build ## measure retrieval quality on the sets in EVAL_SETS (our own notes)
	@sets='$(patsubst %/corpus.jsonl,%,$(wildcard $(EVAL_SETS)/corpus.jsonl $(EVAL_SETS)/*/corpus.jsonl))'; \
	  test -n "$$sets" || { echo 'no sets in $(EVAL_SETS): want folders with corpus.jsonl, queries.jsonl and qrels.tsv'; exit 1; }; \
	  ./bin/ragd eval $(EVAL_FLAGS) $$sets

fuzz: ## run every fuzz target for FUZZTIME (20s)
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p 2>/dev/null | grep '^Fuzz'); do \
	    echo "== $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; done

picture: build ## make docs/ragtui.svg, the picture in the README, from a real index
	docs/picture.sh

walk: build ## record the walk through ragtui in docs/tui.md (needs tmux)
	docs/walk.sh

install: build ## install ragd and ragtui into ~/.local/bin (PREFIX changes it)
	install -d "$(or $(PREFIX),$(HOME)/.local)/bin"
	install bin/ragd bin/ragtui "$(or $(PREFIX),$(HOME)/.local)/bin/"

clean: ## remove what build made
	rm -rf bin
