"""librocktune as a C++ developer gets it: installed, found by their CMake project, linked and run."""

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from rocktune.deploy import WATCHED_FILE, watched_text, write_watched

ROOT = Path(__file__).parents[2]
BUILD = ROOT / os.environ.get("ROCKTUNE_BUILD", "build/tests")
EXAMPLES = ROOT / "examples" / "library"
VALUE_BYTES = 1000
KEYS = 1000


def _run(*command: str | Path) -> str:
    finished = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    assert finished.returncode == 0, f"{command}: {finished.stdout[-3000:]}{finished.stderr[-3000:]}"
    return finished.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where librocktune is installed."""
    if not (BUILD / "librocktune.a").exists():
        pytest.skip(
            f"{BUILD} holds no librocktune.a: run 'make test', or set ROCKTUNE_BUILD to a build of yours"
        )
    prefix = tmp_path_factory.mktemp("prefix")
    _run("cmake", "--install", BUILD, "--prefix", prefix)
    return prefix


def test_what_is_installed(prefix: Path) -> None:
    files = {path.relative_to(prefix).as_posix() for path in prefix.rglob("*") if path.is_file()}
    headers = {path.removeprefix("include/") for path in files if path.startswith("include/")}
    public = {
        path.relative_to(ROOT / "cpp/include").as_posix() for path in (ROOT / "cpp/include").rglob("*.h")
    }
    assert "rocktune/compaction_governor.h" in public
    assert headers == public, "internal headers are not for applications"
    others = {path.rpartition("/")[2] for path in files if not path.startswith("include/")}
    targets = {name for name in others if name.startswith("rocktuneTargets")}
    package = {"rocktuneConfig.cmake", "rocktuneConfigVersion.cmake"}
    assert targets
    assert others - targets == {"librocktune.a", "rocktune-worker"} | package
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    (stated,) = prefix.rglob("rocktuneConfigVersion.cmake")
    assert f'set(PACKAGE_VERSION "{version}")' in stated.read_text()
    assert '"event":"hello"' in _run(prefix / "bin/rocktune-worker")


@pytest.fixture(scope="module")
def examples(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example programs, one for each public class, built as a user's own CMake project."""
    build = tmp_path_factory.mktemp("examples")
    _run("cmake", "-S", EXAMPLES, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    _run("cmake", "--build", build)
    return build


def test_each_public_header_compiles_alone(prefix: Path, tmp_path: Path) -> None:
    project = ["cmake_minimum_required(VERSION 3.22)", "project(headers LANGUAGES CXX)"]
    project += ["find_package(rocktune REQUIRED)", "add_library(headers OBJECT)"]
    project += ["target_link_libraries(headers PRIVATE rocktune::rocktune)"]
    for header in sorted((prefix / "include/rocktune").glob("*.h")):
        (tmp_path / f"{header.stem}.cc").write_text(f'#include "rocktune/{header.name}"\n')
        project.append(f"target_sources(headers PRIVATE {header.stem}.cc)")
    (tmp_path / "CMakeLists.txt").write_text("\n".join(project))
    _run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    _run("cmake", "--build", tmp_path / "build")


def test_the_file_systems_example_counts_by_cause(examples: Path, tmp_path: Path) -> None:
    printed = _run(examples / "throttled", tmp_path / "store")
    device_bytes = {cause: int(count) for cause, count in map(str.split, printed.splitlines())}
    # Every key is put twice, each time followed by a flush; the compaction reads both and writes one.
    user_bytes = KEYS * VALUE_BYTES
    assert 2 * user_bytes < device_bytes["wal"] < 2.2 * user_bytes
    assert 2 * user_bytes < device_bytes["flush"] < 2.2 * user_bytes
    assert user_bytes < device_bytes["compaction_write"] < 1.1 * user_bytes
    assert device_bytes["compaction_read"] > 2 * user_bytes


def test_the_governors_example_governs(examples: Path, tmp_path: Path) -> None:
    printed = _run(examples / "governed", tmp_path / "store", "3")
    assert "tables in level 0, limit of compactions" in printed
    counters = dict(line.split() for line in printed.splitlines() if line.startswith("rocktune_governor_"))
    assert float(counters["rocktune_governor_intervals_total"]) >= 1
    assert float(counters["rocktune_governor_device_bytes_per_second"]) > 0
    assert float(counters["rocktune_governor_flush_bytes_total"]) > 0


def test_the_stores_example_changes_its_shape(examples: Path, tmp_path: Path) -> None:
    leveled, reshaped, *levels = _run(examples / "reshaped", tmp_path / "store").splitlines()
    assert "K=1" in leveled.split("|")[1]
    assert "K=4" in reshaped.split("|")[1]
    assert any("found 0," not in level for level in levels)


def test_the_adaptive_stores_example_prints_its_decisions(examples: Path, tmp_path: Path) -> None:
    first, *_ = _run(examples / "adapted", tmp_path / "store").splitlines()
    assert first.startswith("mission ")
    assert "; predicted " in first


def test_the_watchers_example_applies_what_python_wrote(examples: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    live = {"db": {"max_background_jobs": "4"}, "cf:default": {"write_buffer_size": "1048576"}}
    write_watched(store / WATCHED_FILE, watched_text(live))
    printed = _run(examples / "watched", store, "1")
    assert "db max_background_jobs: 2 -> 4" in printed
    assert "cf default write_buffer_size: 67108864 -> 1048576\napplied\n" in printed
    assert "rocktune_options_files_applied_total 1.0" in printed


def test_the_migrations_example_goes_in_and_out(examples: Path, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("source", "store", "stock")]
    into, as_store, back, as_stock = _run(examples / "migrated", *paths).splitlines()
    assert into.startswith("into an FLSM store: ")
    assert back.startswith("back to stock: ")
    assert as_store.startswith("50000 entries in ")
    assert as_stock == "50000 entries in 7 levels"
    assert not list(tmp_path.glob("*/ROCKTUNE_MIGRATION"))


def test_another_rocksdb_than_it_was_built_with_is_refused(prefix: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "RocksDBConfig.cmake").touch()
    (other / "RocksDBConfigVersion.cmake").write_text('set(PACKAGE_VERSION "6.0.0")\n')
    configure: list[str | Path] = ["cmake", "-S", EXAMPLES, "-B", tmp_path / "build"]
    configure += [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DRocksDB_DIR={other}"]
    finished = subprocess.run(configure, capture_output=True, text=True, check=False)
    assert finished.returncode != 0
    message = " ".join(finished.stderr.split())
    assert "this librocktune was built with RocksDB" in message
    assert f"{other} is 6.0.0" in message
