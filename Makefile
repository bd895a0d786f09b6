# make demo and make test are the two commands a newcomer needs; each sets up everything first.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILD := build/release
JOBS ?= $(shell nproc)
CPP_FILES = $(shell git ls-files 'cpp/**/*.h' 'cpp/**/*.cc')
CMAKE_ARGS := $(if $(RocksDB_ROOT),-C cmake.define.RocksDB_ROOT=$(abspath $(RocksDB_ROOT)))

APT_RUN := g++ cmake ninja-build python3-venv librocksdb-dev nlohmann-json3-dev
APT_TEST := $(APT_RUN) libgtest-dev rocksdb-tools
APT_CHECK := $(APT_TEST) clang-format clang-tidy
APT_ROCKSDB := libgflags-dev libsnappy-dev liblz4-dev libzstd-dev zlib1g-dev

# Installs what is missing of the packages $(1) where we may; prints the one line to run where we may not.
define apt_install
missing=$$(for package in $(1); do dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || echo $$package; done); \
if [ -n "$$missing" ]; then \
  if [ "$$(id -u)" = 0 ]; then \
    echo "Installing" $$missing; \
    { apt-get install -qq -y --no-install-recommends $$missing || { apt-get update -qq; apt-get install -qq -y --no-install-recommends $$missing; }; } >$(1_LOG) 2>&1 \
      || { tail -n 5 $(1_LOG); exit 1; }; \
  else \
    echo "Some Debian packages are missing. Please run:"; echo "  sudo apt-get install -y" $$missing; exit 2; \
  fi; \
fi
endef
1_LOG := /tmp/rocktune-apt.log

.PHONY: help setup demo test test-all check lint format sanitize rocksdb evidence clean

help:
	@echo "make demo      set up everything, tune a workload, show the proof and the report (about 4 minutes)"
	@echo "make test      set up everything, run all tests"
	@echo "make setup     .venv with the rocktune command in it"
	@echo "make check     linters and tests, as CI runs them"
	@echo "make sanitize  the C++ tests under ASan/UBSan and TSan"
	@echo "make rocksdb   a release build of the newest supported RocksDB in build/rocksdb"
	@echo "make evidence  docs/evidence/README.md from the committed claims"

# ---- setting up ----------------------------------------------------------------------------------------

$(VENV)/.created:
	@$(call apt_install,$(APT_RUN))
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "rocktune needs Python 3.11 or newer; set PYTHON=..."; exit 2; }
	@echo "Creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --upgrade pip
	@touch $@

NATIVE := $(shell find cpp CMakeLists.txt pyproject.toml -type f 2>/dev/null)

$(VENV)/.installed: $(VENV)/.created $(NATIVE)
	@$(call apt_install,$(APT_RUN))
	@echo "Building the native parts and installing rocktune (about two minutes the first time)"
	@$(BIN)/python -m pip install -q "scikit-build-core>=1.1" "nanobind>=3.1"
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) $(BIN)/python -m pip install -q --no-build-isolation $(CMAKE_ARGS) -e .
	@touch $@

$(VENV)/.developed: $(VENV)/.installed
	@$(call apt_install,$(APT_TEST))
	@$(BIN)/python -m pip install -q --group dev
	@touch $@

setup: $(VENV)/.installed
	@echo "Ready: $(BIN)/rocktune --help"

demo: setup
	@$(BIN)/rocktune tune --workload dremel-write-heavy --device ssd-100mb --scale 1/64 --out out/demo

# ---- tests and linters ---------------------------------------------------------------------------------

build/tests/build.ninja: $(VENV)/.developed
	@cmake -S . -B build/tests -G Ninja -DROCKTUNE_TESTS=ON -DROCKTUNE_BINDINGS=OFF \
	  $(if $(RocksDB_ROOT),-DRocksDB_ROOT=$(abspath $(RocksDB_ROOT))) >/dev/null

test: build/tests/build.ninja
	@ninja -C build/tests -j $(JOBS) --quiet
	@ctest --test-dir build/tests -j $(JOBS) --output-on-failure --progress | tail -n 4
	@$(BIN)/python -m pytest

# There are no optional extras yet: everything is in `make test`.
test-all: test

lint: build/tests/build.ninja
	@$(call apt_install,$(APT_CHECK))
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@clang-format --dry-run --Werror $(CPP_FILES)
	@printf '%s\n' $(filter %.cc,$(CPP_FILES)) | grep -v -E 'bindings/|_(test|bench)\.cc' \
	  | xargs -P $(JOBS) -n 1 clang-tidy -p build/tests --quiet 2>/dev/null

check: lint test

format: $(VENV)/.developed
	@$(call apt_install,$(APT_CHECK))
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format --quiet .
	@clang-format -i $(CPP_FILES)

# RocksDB itself is not instrumented; what is ours is.
sanitize: $(VENV)/.developed
	@for kind in address,undefined thread; do \
	  echo "== -fsanitize=$$kind"; \
	  cmake -S . -B build/sanitize-$${kind%%,*} -G Ninja -DROCKTUNE_TESTS=ON -DROCKTUNE_BINDINGS=OFF -DROCKTUNE_SANITIZE=$$kind >/dev/null; \
	  ninja -C build/sanitize-$${kind%%,*} -j $(JOBS) --quiet; \
	  TSAN_OPTIONS="suppressions=$(CURDIR)/cpp/tsan.supp" ctest --test-dir build/sanitize-$${kind%%,*} -j $(JOBS) --output-on-failure --progress | tail -n 4; \
	done

# A release build (no assertions) of the newest supported RocksDB, with db_bench; about 12 minutes on 2 cores.
# Then: make setup RocksDB_ROOT=build/rocksdb
ROCKSDB_CRATE := build/rocksdb-source/librocksdb-sys
ROCKSDB_CRATE_SHA256 := 4f45e86edad8e88efe97dbf384b4e48e1ff0f111eabf154c7b09d7a1e5fb573c
rocksdb:
	@$(call apt_install,$(APT_RUN) $(APT_ROCKSDB))
	@command -v cargo >/dev/null || { echo "make rocksdb fetches RocksDB's source with cargo, which is not here: install Rust, or set RocksDB_ROOT to a RocksDB of your own"; exit 2; }
	@cargo vendor --quiet --manifest-path rocksdb/Cargo.toml build/rocksdb-source >/dev/null
	@grep -q '"package":"$(ROCKSDB_CRATE_SHA256)"' $(ROCKSDB_CRATE)/.cargo-checksum.json \
	  || { echo "RocksDB's source is not the one that rocksdb/Cargo.toml pins"; exit 1; }
	@cmake -S $(ROCKSDB_CRATE)/rocksdb -B build/rocksdb-build -G Ninja -DCMAKE_BUILD_TYPE=Release \
	  -DCMAKE_INSTALL_PREFIX=$(abspath build/rocksdb) -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DUSE_RTTI=ON -DPORTABLE=1 \
	  -DROCKSDB_BUILD_SHARED=OFF -DWITH_TESTS=OFF -DWITH_TOOLS=OFF -DWITH_CORE_TOOLS=OFF -DWITH_BENCHMARK_TOOLS=ON \
	  -DWITH_GFLAGS=ON -DWITH_SNAPPY=ON -DWITH_LZ4=ON -DWITH_ZSTD=ON -DWITH_ZLIB=ON -DFAIL_ON_WARNINGS=OFF >/dev/null
	@ninja -C build/rocksdb-build -j $(JOBS) install | grep -v '^-- '
	@install -D build/rocksdb-build/db_bench build/rocksdb/bin/db_bench
	@echo "Ready. Use it with: make setup RocksDB_ROOT=build/rocksdb"

evidence: $(VENV)/.installed
	@$(BIN)/python -m benchmarks.evidence

clean:
	@rm -rf build out $(VENV)
