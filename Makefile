# What operators and developers type. `make help` lists it.

.DEFAULT_GOAL := help
SHELL := bash

SOURCES := $(shell find src plugins -name '*.ts' ! -name '*.test.ts') tsconfig.json tsconfig.build.json

.PHONY: help install hooks build run cli seed test test-all test-nightly test-node24 test-network test-clients test-deploy test-soak test-hostile dev lint format typecheck bench-checks bench bench-scale bench-tools audit docs reports release clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: node_modules/.installed ## install what package-lock.json names, where it is not there yet
	@[ -n "$$(git config core.hooksPath)" ] || echo 'make hooks has git check format and lint of each commit.'

hooks: ## have git check format and lint of what is committed (.githooks)
	git config core.hooksPath .githooks

node_modules/.installed: package.json package-lock.json
	npm ci --no-audit --no-fund
	@touch $@

build: dist/.built ## compile to dist/, where it is out of date

dist/.built: node_modules/.installed $(SOURCES)
	@rm -rf dist
	npm run --silent build
	@touch $@

# What tests run: the program, the plugins that only tests have, and what handles both.
dist-test/.built: node_modules/.installed $(SOURCES) tsconfig.test.json $(wildcard test/fixtures/*/*.ts test/support/*.ts)
	@rm -rf dist-test
	@npx tsc --project tsconfig.test.json --noCheck --singleThreaded
	@touch $@

# No npm and no make in between: Ctrl-C is for the program, which stops its servers in order.
run: dist/.built ## install, build and serve; the first time with a demo garden
	@trap '' INT; exec node dist/src/main.js --welcome

seed: dist/.built ## load seeds/, as often as you like
	@npm run --silent cli -- seed

# Which tier a test is in follows from its folder: CONTRIBUTING.md, "Tests".
COMPUTING := plugins/ test/contract/ test/fixtures/ test/host/ test/mcp/
WAITING := test/backup/ test/cli/ test/connections/ test/docs/ test/faults/ test/model/ test/servers/

# The checks use what the tests leave of the processors; a fault in any of them is one.
test: dist-test/.built ## format, lint, types, and every test that computes rather than waits
	@checks=$$(mktemp); \
	  nice npm run --silent checks >"$$checks" 2>&1 & pid=$$!; \
	  npx jest $(COVERAGE) $(COMPUTING); tests=$$?; \
	  wait $$pid; faults=$$?; [ $$faults = 0 ] || cat "$$checks"; rm -f "$$checks"; \
	  [ $$faults = 0 ] && [ $$tests = 0 ]

test-all: dist/.built dist-test/.built ## those, every test that waits, and what of the code all of them reach
	@rm -rf coverage; \
	  $(MAKE) --no-print-directory test COVERAGE='--coverage --coverageReporters json --coverageDirectory coverage/computing'; \
	  computing=$$?; \
	  npx jest --coverage --coverageReporters json --coverageDirectory coverage/waiting $(WAITING) && \
	  [ $$computing = 0 ] && node test/support/coverage.js

test-nightly: ## what needs browsers, generators, fetched tools, another Node or much time
	@$(MAKE) --no-print-directory --keep-going test-node24 test-clients test-deploy test-network test-soak test-hostile bench bench-scale bench-tools reports

test-node24: ## make test on Node 24, which npm fetches
	@npx --yes --package "node-$$(node -p '`$${process.platform}-$${process.arch}`')@24" -- $(MAKE) --no-print-directory test

test-network: dist-test/.built ## break the network at every command of every write
	@NETWORK_FAULTS=every npx jest test/faults/network.test.ts

# What only few need has a package.json beside the files that use it.
test/%/node_modules/.installed: test/%/package.json test/%/package-lock.json
	npm ci --prefix test/$* --no-audit --no-fund
	@touch $@

test-clients: dist-test/.built test/clients/node_modules/.installed ## generate clients, try /docs in a browser and the tools in agents, all fetched for it
	@npx jest test/clients

test-deploy: dist-test/.built ## lint deploy/ with fetched tools, and run the steps of its Dockerfile
	@npx jest test/deploy

test-soak: dist/.built ## ten minutes (SOAK_SECONDS) of load and faults: nothing grows, nothing is lost
	@node --require ./test/servers/register.cjs test/soak/soak.ts

test-hostile: dist/.built ## attacks by one account, a minute (HOSTILE_SECONDS) each over HTTP and HTTPS, then 10,500 clients
	@node --require ./test/servers/register.cjs test/hostile/hostile.ts

dev: node_modules/.installed ## serve the sources, anew after each edit; MongoDB and Redis stay up
	@trap '' INT; exec node --require ./test/servers/register.cjs test/dev/dev.ts

lint: node_modules/.installed ## look for mistakes
	@npm run --silent lint

format: node_modules/.installed ## bring all files into shape
	@npm run --silent format

typecheck: node_modules/.installed ## check types
	@npm run --silent typecheck

bench-checks: node_modules/.installed test/bench/node_modules/.installed # types and style, once its packages are there
	@npm run --silent --prefix test/bench checks

bench: dist/.built bench-checks ## compare with the same on Fastify, on Express and on no framework; writes to reports/
	@node --require ./test/servers/register.cjs test/bench/bench.ts

bench-scale: dist/.built bench-checks ## how times grow with events, accounts and writers; writes to reports/
	@node --require ./test/servers/register.cjs test/bench/scale.ts

bench-tools: node_modules/.installed ## compare what a tool call costs with REST
	@node --require ./test/servers/register.cjs test/bench/tools.ts

audit: dist/.built ## list every operation with who may call it, and the data behind it
	@npm run --silent cli -- audit routes

# Those of the tests that write a document where they would compare it.
docs: node_modules/.installed ## renew what documents show of the code
	@UPDATE_DOCS=1 npx jest $$(grep -lr --exclude-dir=node_modules UPDATE_DOCS test)

reports: dist-test/.built ## write what each operation asks of MongoDB to reports/
	@REPORTS='$(CURDIR)/reports' npx jest test/docs/commands.test.ts

# package.json, "version", is what npm runs between the new version and its commit.
release: ## VERSION=1.2.0: give the Unreleased part of the changelog this version and date, commit and tag
	@grep -q '^## \[Unreleased\]$$' CHANGELOG.md || { echo 'CHANGELOG.md has no part [Unreleased].'; exit 1; }
	npm version '$(VERSION)' --message 'docs(release): this is %s'

clean: ## remove what was built and installed; data stays
	rm -rf coverage dist dist-test node_modules reports test/*/node_modules
