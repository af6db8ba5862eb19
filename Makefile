# Commands for operators and developers. `make help` lists them.

.DEFAULT_GOAL := help
SHELL := bash

SOURCES := $(shell find src plugins -name '*.[jt]s' ! -name '*.test.ts') tsconfig.json tsconfig.build.json

.PHONY: help supported-node install hooks build run cli seed test test-all coverage test-nightly test-node24 test-network test-clients test-deploy test-soak test-hostile dev lint format typecheck bench-checks bench bench-scale bench-tools audit docs reports release clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: node_modules/.installed ## install the packages of package-lock.json
	@[ -n "$$(git config core.hooksPath)" ] || echo 'Run make hooks to check format and lint on every commit.'

hooks: ## install the Git hook that checks format and lint of each commit
	git config core.hooksPath .githooks

# Also when the packages are there: they may be those of another Node. On a supported one there is nothing
# to make, so that make --question tells whether the build is up to date.
UNSUPPORTED := $(shell node src/core/supported-node.js 2>/dev/null || echo supported-node)

supported-node:
	@node src/core/supported-node.js

node_modules/.installed: package.json package-lock.json | $(UNSUPPORTED)
	npm ci --no-audit --no-fund
	@touch $@

build: dist/.built ## compile to dist/

dist/.built: node_modules/.installed $(SOURCES)
	@rm -rf dist
	npm run --silent build
	@touch $@

# For the tests: the program, test fixtures and test support.
dist-test/.built: node_modules/.installed $(SOURCES) tsconfig.test.json $(wildcard test/fixtures/*/*.ts test/support/*.ts)
	@rm -rf dist-test
	@npx tsc --project tsconfig.test.json --noCheck --singleThreaded
	@touch $@

# Without npm or make in between, so that Ctrl-C reaches the program, which stops its servers in order.
run: dist/.built ## install, build and serve; the first time, load a demo garden
	@trap '' INT; exec node dist/src/main.js --welcome

seed: dist/.built ## load seeds/; can be repeated
	@npm run --silent cli -- seed

# A test's folder determines its tier: CONTRIBUTING.md, "Tests".
COMPUTING := plugins/ test/contract/ test/fixtures/ test/host/ test/mcp/
WAITING := test/backup/ test/cli/ test/connections/ test/docs/ test/faults/ test/model/ test/servers/

# The checks run at low priority beside the tests; a failure of either fails the target.
test: dist-test/.built ## check format, lint and types, and run the fast tests
	@checks=$$(mktemp); \
	  nice npm run --silent checks >"$$checks" 2>&1 & pid=$$!; \
	  npx jest $(COMPUTING); tests=$$?; \
	  wait $$pid; faults=$$?; [ $$faults = 0 ] || cat "$$checks"; rm -f "$$checks"; \
	  [ $$faults = 0 ] && [ $$tests = 0 ]

test-all: dist/.built dist-test/.built bench-checks ## also run the slow tests
	@$(MAKE) --no-print-directory test; computing=$$?; \
	  npx jest $(WAITING) && [ $$computing = 0 ]

coverage: dist/.built dist-test/.built ## run all these tests, and write what they reach to coverage/
	@npx jest --coverage $(COMPUTING) $(WAITING)

test-nightly: ## run everything that needs browsers, downloads, another Node or much time
	@$(MAKE) --no-print-directory --keep-going coverage test-node24 test-clients test-deploy test-network test-soak test-hostile bench bench-scale bench-tools reports

test-node24: ## run make test on Node 24, downloaded by npm
	@npx --yes --package "node-$$(node -p '`$${process.platform}-$${process.arch}`')@24" -- $(MAKE) --no-print-directory test

test-network: dist-test/.built ## break the connection to MongoDB at every command of every write
	@NETWORK_FAULTS=every npx jest test/faults/network.test.ts

# Packages that only some tests need have a package.json beside those tests.
test/%/node_modules/.installed: test/%/package.json test/%/package-lock.json
	npm ci --prefix test/$* --no-audit --no-fund
	@touch $@

test-clients: dist-test/.built test/clients/node_modules/.installed ## test generated clients, /docs in a browser, and tools in agents (with Python and Go)
	@npx jest test/clients

test-deploy: dist-test/.built ## lint deploy/ and .github/, and run the steps of the Dockerfile
	@npx jest test/deploy

test-soak: dist-test/.built ## run ten minutes (SOAK_SECONDS) of load and faults; check for leaks and lost data
	@node --require ./test/servers/register.cjs test/soak/soak.ts

test-hostile: dist-test/.built ## attack from one account, a minute (HOSTILE_SECONDS) each over HTTP and HTTPS, then with 10,500 clients
	@node --require ./test/servers/register.cjs test/hostile/hostile.ts

dev: node_modules/.installed ## serve the sources, and restart on every edit
	@trap '' INT; exec node --require ./test/servers/register.cjs test/dev/dev.ts

lint: node_modules/.installed ## run the linter
	@npm run --silent lint

format: node_modules/.installed ## format all files
	@npm run --silent format

typecheck: node_modules/.installed ## check types
	@npm run --silent typecheck

bench-checks: node_modules/.installed test/bench/node_modules/.installed # types and style of the benchmarks
	@npm run --silent --prefix test/bench checks

bench: dist/.built bench-checks ## compare with Fastify, Express and node:http; write to reports/
	@node --require ./test/servers/register.cjs test/bench/bench.ts

bench-scale: dist/.built bench-checks ## measure growth with events, accounts and writers; write to reports/
	@node --require ./test/servers/register.cjs test/bench/scale.ts

bench-tools: node_modules/.installed ## compare tool calls with REST
	@node --require ./test/servers/register.cjs test/bench/tools.ts

audit: dist/.built ## list every endpoint, who may call it, and the data it uses
	@npm run --silent cli -- audit routes

# With UPDATE_DOCS, these tests write documents instead of comparing them.
docs: node_modules/.installed ## regenerate the tables and code in the documents
	@UPDATE_DOCS=1 npx jest $$(grep -lr --exclude-dir=node_modules UPDATE_DOCS test)

reports: dist-test/.built ## write the MongoDB commands of each operation to reports/
	@REPORTS='$(CURDIR)/reports' npx jest test/docs/commands.test.ts

# npm runs the script "version" of package.json before it commits.
release: ## VERSION=1.2.0: update version and changelog, commit and tag
	@grep -q '^## \[Unreleased\]$$' CHANGELOG.md || { echo 'CHANGELOG.md has no section [Unreleased].'; exit 1; }
	npm version '$(VERSION)' --message 'docs(release): this is %s'

clean: ## remove builds and installed packages, but no data
	rm -rf coverage dist dist-test node_modules reports test/*/node_modules
