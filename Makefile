# A thin front: CMake does the building (CMakePresets.json), tools/ does the rest.  Packages that are missing are
# installed first.

PREFIX ?= /usr/local
VARIANTS ?= # all

BUILD_PACKAGES = gcc libc6-dev cmake ninja-build pkg-config libsqlite3-dev libjansson-dev \
	libmicrohttpd-dev libgnutls28-dev libcurl4-openssl-dev libpq-dev
# zlib1g-dev: `pkg-config --static` asks for it on SQLite's behalf, and SQLite's package does not bring it.
TEST_PACKAGES = $(BUILD_PACKAGES) g++ clang clang-format libclang-rt-14-dev libcmocka-dev valgrind binutils python3 \
	sqlite3 spin zlib1g-dev curl jq openssl postgresql-15 faketime pgbouncer
BENCH_PACKAGES = wrk postgresql-15
SOAK_PACKAGES = python3 postgresql-15 util-linux mount
RELEASE = build/release

.PHONY: help build run demo test bench fuzz sim soak install format clean asan tsan clang valgrind coverage

build: ## build the library, the examples and the benchmarks (the default)
	@tools/install-packages $(BUILD_PACKAGES)
	@[ -f $(RELEASE)/build.ninja ] || cmake --preset release >/dev/null
	@cmake --build --preset release

run: build ## build, start pawld with the examples, and say what to try; LISTEN=127.0.0.1:8080 listens elsewhere
	@tools/run $(RELEASE) $(LISTEN)

demo: build ## build, and run the demonstration: orders that survive kill -9
	@$(RELEASE)/examples/demo

test: ## build and test in all variants, or in those named: make test VARIANTS="gcc asan"
	@tools/install-packages $(TEST_PACKAGES)
	@tools/test $(VARIANTS)

asan tsan clang valgrind: ## test in this variant alone
	@$(MAKE) --no-print-directory test VARIANTS=$@

bench: build ## run the benchmarks
	@tools/install-packages $(BENCH_PACKAGES)
	@tools/bench $(RELEASE)

fuzz: ## fuzz every target of tests/fuzz for SECONDS (60): make fuzz SECONDS=600
	@tools/install-packages $(TEST_PACKAGES)
	@tools/fuzz "$(or $(SECONDS),60)"

sim: ## run the simulation with SEEDS (20000) seeds: make sim SEEDS=1000000
	@tools/install-packages $(TEST_PACKAGES)
	@tools/sim "$(or $(SEEDS),20000)"

soak: build ## run mixed load with kills, stops, full disks and hostile clients for MINUTES (10): make soak MINUTES=60
	@tools/install-packages $(SOAK_PACKAGES)
	@tools/soak $(RELEASE) "$(or $(MINUTES),10)"

install: build ## install into PREFIX (/usr/local), honouring DESTDIR
	@cmake --install $(RELEASE) --prefix $(PREFIX)
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" -ne 0 ] || ldconfig

coverage: ## run the tests once, and print which lines and branches of src/ they reach
	@tools/install-packages $(TEST_PACKAGES) gcovr
	@tools/coverage

format: ## lay out the source as .clang-format says
	@tools/install-packages clang-format
	@tools/check_format --fix

clean: ## remove what was built
	@rm -rf build

help: ## this list
	@sed -n 's/^\([a-z][a-z ]*\):.*## /\1: /p' Makefile
