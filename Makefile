GO       ?= go
GOFMT    := $(shell $(GO) env GOROOT)/bin/gofmt
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
FUZZTIME ?= 30s
CRASHTIME ?= 5m
CHECKS   ?= 2000

# Vet runs before the tests, and a test binary links in half the time without the
# symbols of a debugger.
TESTFLAGS := -vet=off -ldflags=-w

# What make quick leaves to make test: tests that kill processes, start other servers
# and clients, or take long for what few changes break.
SLOW := action|cmd/rota|console/dialect|console/pgcatalog|examples|node/crashtest|pgwire/drivertest|store/postgres/pgtest|worker

# Tools run at fixed versions and stay out of go.mod.
GOFUMPT     := $(GO) run mvdan.cc/gofumpt@v0.12.0
STATICCHECK := $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Modules beside the main one, such as the benchmarks with their rivals.
MODULES := $(patsubst %/go.mod,%,$(wildcard */go.mod))

.PHONY: help build run quick test deep withpostgres python postgres mariadb drivers check format vet lint fuzz hours crash bench clean

help: ## explain the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

build: ## make bin/rota, one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/rota ./cmd/rota

run: build ## build, and run the server in ./rota-data until Ctrl-C; ARGS='--workers 4' are its flags
	@bin/rota serve $(ARGS)

# The tests come last, so that what they say is the last thing read. Those that take
# longest come first among them, so that no processor waits for them in the end. Of
# the benchmarks only that they measure what they say is tested, which is short.
test: format vet python postgres mariadb drivers withpostgres ## check the formatting, vet, and run all tests
	@set -e; for module in $(MODULES); do (cd $$module && $(GO) test $(TESTFLAGS) -short ./...); done
	bin/withpostgres $(GO) test $(TESTFLAGS) -timeout 20m ./store/postgres ./store/sqlite ./...

# Under -short the conformance suite is complete on SQLite, and a slice on PostgreSQL.
# The files of the tests are in memory, if there are 4 GB: make test has them on disk.
quick: format postgres withpostgres ## in 90 seconds, run what a change most likely breaks: vet, units, SQLite, a slice of PostgreSQL
	$(GO) vet ./...
	@export GOTMPDIR=$${GOTMPDIR:-$${TMPDIR:-/tmp}}; \
	[ "$$(df -Pk /dev/shm 2>/dev/null | awk 'END { print $$4 }')" -gt 4000000 ] 2>/dev/null && export TMPDIR=/dev/shm; \
	exec bin/withpostgres $(GO) test $(TESTFLAGS) -p 4 -short ./store/postgres ./store/sqlite \
		$$($(GO) list ./... | grep -vE '/($(SLOW))(/|$$)')

# The random tests that need no server run CHECKS times.
deep: test ## run all tests, then the random and concurrent ones many times over and the whole suite through PgBouncer
	exec env ROTA_DEEP=1 bin/withpostgres $(GO) test $(TESTFLAGS) -count=1 -timeout 0 -v ./store/... ./console/dialect ./httpapi
	$(GO) test $(TESTFLAGS) -count=1 -timeout 0 -rapid.checks $(CHECKS) \
		$$(grep -rl pgregory.net/rapid --include='*_test.go' $(MODULES:%=--exclude-dir=%) --exclude-dir=store --exclude-dir=httpapi . | xargs -n1 dirname | sort -u)

# One PostgreSQL server serves the tests of all packages. It is a command of its own on
# a line of its own, so that make passes signals on to it, and it can stop the server.
withpostgres:
	@$(GO) build -o bin/withpostgres ./store/postgres/pgtest/withpostgres

# Some examples are in Python, and are run as the others are: without it their
# tests would be passed over.
python:
	@command -v python3 >/dev/null || { echo "installing python3, which examples are run with"; \
		sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); $$sudo apt-get update -qq && $$sudo apt-get install -y -qq python3; }

# The tests of the PostgreSQL store start servers of their own, from the programs
# that the machine has. On Debian those are in no directory of PATH.
postgres:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || [ -x "$$(pg_config --bindir 2>/dev/null)/initdb" ] || \
		command -v initdb >/dev/null || set -- postgresql; \
	[ -x /usr/sbin/pgbouncer ] || command -v pgbouncer >/dev/null || set -- "$$@" pgbouncer; \
	[ $$# = 0 ] || { echo "installing $$*, which the PostgreSQL store is tested with"; \
		sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); $$sudo apt-get update -qq && $$sudo apt-get install -y -qq "$$@"; }

# Jobs of type sql are tested on MariaDB, too.
mariadb:
	@[ -x /usr/sbin/mariadbd ] || command -v mariadbd >/dev/null || { echo "installing mariadb-server, which SQL jobs are tested with"; \
		sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); $$sudo apt-get update -qq && $$sudo apt-get install -y -qq mariadb-server; }

# Whether clients of PostgreSQL get on with the SQL port is asked of them: psql and
# pgbench come with the server, JDBC and psycopg as Debian has them.
drivers:
	@[ -e /usr/share/java/postgresql.jar ] || set -- libpostgresql-jdbc-java; \
	/usr/bin/python3 -c 'import psycopg' 2>/dev/null || set -- "$$@" python3-psycopg; \
	command -v javac >/dev/null || set -- "$$@" default-jdk-headless; \
	[ $$# = 0 ] || { echo "installing $$*, which the SQL port is tested with"; \
		sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); $$sudo apt-get update -qq && $$sudo apt-get install -y -qq "$$@"; }

check: lint test ## lint and test: run it before you push

format:
	@unformatted="$$($(GOFMT) -l .)"; if [ -n "$$unformatted" ]; then \
		echo "not formatted, run gofmt -w on:"; echo "$$unformatted"; exit 1; fi

vet:
	$(GO) vet ./...
	@set -e; for module in $(MODULES); do echo "vet and build $$module"; \
		(cd $$module && $(GO) vet ./... && $(GO) build -o /dev/null ./...); done

lint: vet ## vet, gofumpt and staticcheck
	@unformatted="$$($(GOFUMPT) -l .)" || exit 1; if [ -n "$$unformatted" ]; then \
		echo "not formatted, run gofumpt -w on:"; echo "$$unformatted"; exit 1; fi
	$(STATICCHECK) -checks all ./...

fuzz: ## run each fuzz target for FUZZTIME (30s)
	@grep -roE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' $(MODULES:%=--exclude-dir=%) . | sort | while IFS=: read -r file func; do \
		echo "$$file: $${func#func }"; \
		$(GO) test -run '^$$' -fuzz "^$${func#func }\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" </dev/null || exit 1; \
	done

hours: ## run quick tests at hours, dates and time zones at which tests tend to fail; HOURS='-at noon ./engine' runs others
	$(GO) run ./internal/hours -short $(HOURS)

crash: postgres ## kill real processes, of the store, of the server and of three on PostgreSQL, for CRASHTIME (5m) each, and audit what they leave
	ROTA_CRASH_TIME=$(CRASHTIME) $(GO) test -run 'Crash|Killed' ./store/sqlite -count=1 -timeout 0 -v
	ROTA_CRASH_TIME=$(CRASHTIME) $(GO) test -skip OnPostgres ./node/crashtest -count=1 -timeout 0 -v
	ROTA_CRASH_TIME=$(CRASHTIME) $(GO) test -run OnPostgres ./node/crashtest -count=1 -timeout 0 -v

bench: ## measure, beside rivals and the raw engine
	cd bench && $(GO) run .

clean: ## remove what was built
	rm -rf bin
