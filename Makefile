GO       ?= go
GOFMT    := $(shell $(GO) env GOROOT)/bin/gofmt
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
FUZZTIME ?= 30s
CRASHTIME ?= 5m
SOAKTIME  ?= 10m
CHECKS   ?= 2000

# The targets run vet before the tests. Without debug symbols a test binary links in half
# the time.
TESTFLAGS := -vet=off -ldflags=-w

# Packages that make quick skips and make test runs: their tests kill processes, start
# other servers and clients, or take long and rarely fail.
SLOW := action|cmd/rota|deploy|sql/translate|sql/catalog|examples|node/crashtest|sql/pgwire/drivertest|store/dynamo/dyntest|store/postgres/pgtest|store/txcrash|worker

# Tools run at fixed versions and are not in go.mod.
GOFUMPT     := $(GO) run mvdan.cc/gofumpt@v0.12.0
STATICCHECK := $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Servers that speak the protocol of DynamoDB, for tests. They are packages of npm, which make
# dynamo installs in a directory that git ignores.
DYNAMO_PACKAGES := dynalite@4.0.0 $(if $(filter Linux-x86_64,$(shell uname -sm | tr ' ' -)),@dynoxide/linux-x64@1.2.1)
DYNAMO_DIR      := bin/dynamo

# Go modules besides the main one, such as the benchmarks, which depend on other queues.
MODULES := $(patsubst %/go.mod,%,$(wildcard */go.mod))

# The same source and version give the same program, byte for byte, in any directory.
BUILD := CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '-s -w -buildid= -X main.version=$(VERSION)'

# Where make release puts the programs, and for which systems it builds them.
DIST      ?= dist
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64

.PHONY: help build release run quick test deep withpostgres python postgres dynamo mariadb drivers systemd check format vet lint fuzz hours crash soak-exec bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

build: ## build bin/rota, one static binary
	$(BUILD) -o bin/rota ./cmd/rota

release: ## build programs for Linux, macOS and Windows, with their checksums, in dist/; VERSION=v1.2.3 names them
	@rm -rf '$(DIST)' && mkdir -p '$(DIST)'
	@set -e; for platform in $(PLATFORMS); do \
		os=$${platform%/*}; arch=$${platform#*/}; file=rota_$(VERSION)_$${os}_$$arch; [ $$os != windows ] || file=$$file.exe; \
		echo "building $$file"; GOOS=$$os GOARCH=$$arch $(BUILD) -o '$(DIST)'/$$file ./cmd/rota; \
	done
	@cd '$(DIST)' && { sha256sum rota_* 2>/dev/null || shasum -a 256 rota_*; } > SHA256SUMS && cat SHA256SUMS

run: build ## build and run the server in ./rota-data until Ctrl-C; ARGS='--workers 4' adds flags
	@bin/rota serve $(ARGS)

# The tests run last, so that their result is at the end of the output, followed by the
# tests that were skipped, such as those of a feature that the kernel lacks. The longest run
# first, so that no processor is idle at the end. Of the benchmarks only the unit tests
# run, which are short.
test: format vet python postgres dynamo mariadb drivers systemd withpostgres ## check the formatting, vet, and run all tests; CI runs this
	@set -e; for module in $(MODULES); do (cd $$module && $(GO) test $(TESTFLAGS) -short ./...); done
	@$(GO) build -o bin/testskips ./internal/testskips
	bin/withpostgres bin/testskips $(GO) test $(TESTFLAGS) -timeout 20m ./store/postgres ./store/sqlite ./...

# With -short the conformance suite runs completely on SQLite, and in part on PostgreSQL.
# The test files are in memory if 4 GB are free; make test uses the disk.
quick: format postgres dynamo withpostgres ## vet and run the tests that a change most likely breaks, in one and a half to two minutes; use it while you work
	$(GO) vet ./...
	@export GOTMPDIR=$${GOTMPDIR:-$${TMPDIR:-/tmp}}; \
	[ "$$(df -Pk /dev/shm 2>/dev/null | awk 'END { print $$4 }')" -gt 4000000 ] 2>/dev/null && export TMPDIR=/dev/shm; \
	exec bin/withpostgres $(GO) test $(TESTFLAGS) -p 4 -short ./store/postgres ./store/sqlite \
		$$($(GO) list ./... | grep -vE '/($(SLOW))(/|$$)')

# The random tests that need no server run CHECKS times.
deep: test ## make test, then many more random and concurrent tests, and the suite through PgBouncer; use it for store changes
	exec env ROTA_DEEP=1 bin/withpostgres $(GO) test $(TESTFLAGS) -count=1 -timeout 0 -v ./store/... ./sql/translate ./httpapi
	$(GO) test $(TESTFLAGS) -count=1 -timeout 0 -rapid.checks $(CHECKS) \
		$$(grep -rl pgregory.net/rapid --include='*_test.go' $(MODULES:%=--exclude-dir=%) --exclude-dir=store --exclude-dir=httpapi . | xargs -n1 dirname | sort -u)

# withpostgres starts one PostgreSQL server for the tests of all packages. Recipes run it
# as the only command of a line, so that it receives signals from make and can stop the
# server.
withpostgres:
	@$(GO) build -o bin/withpostgres ./store/postgres/pgtest/withpostgres

# Some examples are in Python. Without Python their tests would be skipped.
python:
	@command -v python3 >/dev/null || { echo "installing python3, which the tests of the examples need"; \
		sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); $$sudo apt-get update -qq && $$sudo apt-get install -y -qq python3; }

# The tests of the PostgreSQL store start their own servers, with the installed programs.
# On Debian those are not on the PATH.
postgres:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || [ -x "$$(pg_config --bindir 2>/dev/null)/initdb" ] || \
		command -v initdb >/dev/null || set -- postgresql; \
	[ -x /usr/sbin/pgbouncer ] || command -v pgbouncer >/dev/null || set -- "$$@" pgbouncer; \
	[ $$# = 0 ] || { echo "installing $$*, which the tests of the PostgreSQL store need"; \
		sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); $$sudo apt-get update -qq && $$sudo apt-get install -y -qq "$$@"; }

# The tests of the DynamoDB store start Dynoxide, a static program, and Dynalite, which runs in
# Node.js. The tests of Dynoxide are skipped on other systems than Linux on x86-64. The file versions
# is written last: it names what is completely installed.
dynamo: ## install the servers that tests of the DynamoDB store start, in bin/dynamo
	@[ "$$(cat $(DYNAMO_DIR)/versions 2>/dev/null)" = '$(DYNAMO_PACKAGES)' ] && command -v node >/dev/null && exit 0; \
	command -v npm >/dev/null || { echo "installing nodejs and npm, which the tests of the DynamoDB store need"; \
		sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); $$sudo apt-get update -qq && $$sudo apt-get install -y -qq nodejs npm; } || exit 1; \
	major=$$(node -p 'process.versions.node.split(".")[0]') && [ "$$major" -ge 20 ] || { \
		echo "make dynamo: dynalite needs Node.js 20 or later, and this is $$(node --version); install a later one, then run make dynamo again" >&2; exit 1; }; \
	echo "installing $(DYNAMO_PACKAGES), which the tests of the DynamoDB store need"; \
	rm -rf $(DYNAMO_DIR) && mkdir -p $(DYNAMO_DIR) && \
	npm install --prefix $(DYNAMO_DIR) --no-save --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error $(DYNAMO_PACKAGES) && \
	echo '$(DYNAMO_PACKAGES)' > $(DYNAMO_DIR)/versions

# Jobs of type sql are also tested on MariaDB.
mariadb:
	@[ -x /usr/sbin/mariadbd ] || command -v mariadbd >/dev/null || { echo "installing mariadb-server, which the tests of SQL jobs need"; \
		sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); $$sudo apt-get update -qq && $$sudo apt-get install -y -qq mariadb-server; }

# The SQL port is tested with real PostgreSQL clients: psql and pgbench from the server
# package, JDBC and psycopg from Debian.
drivers:
	@[ -e /usr/share/java/postgresql.jar ] || set -- libpostgresql-jdbc-java; \
	/usr/bin/python3 -c 'import psycopg' 2>/dev/null || set -- "$$@" python3-psycopg; \
	command -v javac >/dev/null || set -- "$$@" default-jdk-headless; \
	[ $$# = 0 ] || { echo "installing $$*, which the tests of the SQL port need"; \
		sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); $$sudo apt-get update -qq && $$sudo apt-get install -y -qq "$$@"; }

# systemd-analyze checks the unit in deploy/systemd.
systemd:
	@command -v systemd-analyze >/dev/null || { echo "installing systemd, which the tests of the unit need"; \
		sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); $$sudo apt-get update -qq && $$sudo apt-get install -y -qq systemd; }

check: lint test release ## make lint and make test, and build the release; use it before you push

format:
	@unformatted="$$($(GOFMT) -l .)"; if [ -n "$$unformatted" ]; then \
		echo "not formatted, run gofmt -w on:"; echo "$$unformatted"; exit 1; fi

vet:
	$(GO) vet ./...
	@set -e; for module in $(MODULES); do echo "vet and build $$module"; \
		(cd $$module && $(GO) vet ./... && $(GO) build -o /dev/null ./...); done

lint: vet ## run vet, gofumpt and staticcheck
	@unformatted="$$($(GOFUMPT) -l .)" || exit 1; if [ -n "$$unformatted" ]; then \
		echo "not formatted, run gofumpt -w on:"; echo "$$unformatted"; exit 1; fi
	$(STATICCHECK) -checks all ./...

fuzz: ## run each fuzz test for FUZZTIME (30s); use it after a change of a parser or decoder
	@grep -roE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' $(MODULES:%=--exclude-dir=%) . | sort | while IFS=: read -r file func; do \
		echo "$$file: $${func#func }"; \
		$(GO) test -run '^$$' -fuzz "^$${func#func }\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" </dev/null || exit 1; \
	done

hours: ## run short tests at dates, hours and time zones where tests tend to fail; HOURS='-at noon ./engine' selects them
	$(GO) run ./internal/hours -short $(HOURS)

crash: postgres dynamo ## kill processes of the store, the server, and clusters on PostgreSQL and DynamoDB, for CRASHTIME (5m) each, and verify their data
	ROTA_CRASH_TIME=$(CRASHTIME) $(GO) test -run 'Crash|Killed' ./store/sqlite -count=1 -timeout 0 -v
	ROTA_CRASH_TIME=$(CRASHTIME) $(GO) test -skip 'OnPostgres|OnDynamoDB' ./node/crashtest -count=1 -timeout 0 -v
	ROTA_CRASH_TIME=$(CRASHTIME) $(GO) test -run OnPostgres ./node/crashtest -count=1 -timeout 0 -v
	ROTA_CRASH_TIME=$(CRASHTIME) $(GO) test -run OnDynamoDB ./node/crashtest -count=1 -timeout 0 -v

soak-exec: ## run 1,000 commands a minute for SOAKTIME (10m), and compare memory, descriptors and zombies of the server
	ROTA_SOAK_TIME=$(SOAKTIME) $(GO) test $(TESTFLAGS) -run TestCommandsOfManyMinutesLeaveNothing ./cmd/rota -count=1 -timeout 0 -v

bench: ## measure speed against raw databases and other queues; see docs/reference/benchmarks.md
	cd bench && $(GO) run .

clean: ## remove bin/ and dist/
	rm -rf bin dist
