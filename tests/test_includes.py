"""The direction of includes between the C++ folders, as import-linter keeps it for Python's imports."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CPP = ROOT / "cpp"
LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"worker", "bindings"}),
    frozenset({"adaptive"}),
    frozenset({"options", "migrate"}),
    frozenset({"governor", "flsm", "runner", "trace"}),
    frozenset({"device", "workload"}),
    frozenset({"util"}),
)
"""From the highest. A folder includes itself and folders of lower layers, none of its own layer."""
OWNERS = {
    "adaptive_store": "adaptive",
    "cost_controller": "adaptive",
    "cost_plan": "adaptive",
    "compaction_governor": "governor",
    "governed_db": "governor",
    "governor_decision": "governor",
    "options_watcher": "options",
    "flsm_controller": "flsm",
    "flsm_migration": "flsm",
    "flsm_options": "flsm",
    "flsm_shape": "flsm",
    "flsm_statistics": "flsm",
    "flsm_store": "flsm",
    "device_spec": "device",
    "throttled_file_system": "device",
    "io_cause": "util",
}
"""The folder that implements each public header; what may include the folder may include the header."""
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_INTERNAL_OF_ROCKSDB = re.compile(
    r"^#include <(db|util|file|table|cache|memory|monitoring|env|port)/", re.MULTILINE
)


def folder_of(path: str) -> str:
    """Returns the folder that a file belongs to, by its path below `cpp` or as an include names it."""
    parts = path.removeprefix("include/").removeprefix("rocktune/").split("/")
    return OWNERS[parts[0].removesuffix(".h")] if len(parts) == 1 else parts[0]


def is_allowed(including: str, included: str) -> bool:
    """Returns whether a folder may include another one."""
    level = {folder: number for number, layer in enumerate(LAYERS) for folder in layer}
    return including == included or level[including] < level[included]


def violations(files: dict[str, str]) -> list[str]:
    """Returns the includes that the contract forbids, one line each.

    Args:
        files: text by path below `cpp`.
    """
    found = []
    for path, text in files.items():
        for included in _INCLUDE.findall(text):
            if "/" not in included:
                continue  # of the file's own folder
            public = path.startswith("include/")
            if public and included.count("/") > 1:
                found.append(f"{path}: the public header includes {included}, which is not installed")
            elif not is_allowed(folder_of(path), folder_of(included)):
                found.append(f"{path}: {folder_of(path)} includes {included} of {folder_of(included)}")
        if _INTERNAL_OF_ROCKSDB.search(text):
            found.append(f"{path}: includes a header of RocksDB that is not public")
        if "nanobind" in text and not path.startswith("bindings/"):
            found.append(f"{path}: only bindings see Python")
    return found


def test_no_include_goes_upwards() -> None:
    files = {
        path.relative_to(CPP).as_posix(): path.read_text()
        for pattern in ("*.h", "*.cc")
        for path in CPP.rglob(pattern)
    }
    assert len(files) > 100
    assert violations(files) == []


@pytest.mark.parametrize(
    ("path", "line", "problem"),
    [
        ("rocktune/util/x.h", '#include "rocktune/device/throttle.h"', "util includes"),
        ("rocktune/device/x.cc", '#include "rocktune/workload/zipf.h"', "device includes"),
        ("rocktune/governor/x.cc", '#include "rocktune/flsm_store.h"', "governor includes"),
        ("include/rocktune/device_spec.h", '#include "rocktune/util/json_fields.h"', "not installed"),
        ("rocktune/runner/x.cc", '#include "worker/run.h"', "runner includes"),
        ("rocktune/flsm/x.cc", "#include <db/db_impl.h>", "not public"),
        ("worker/x.cc", "#include <nanobind/nanobind.h>", "only bindings"),
    ],
)
def test_a_forbidden_include_is_found(path: str, line: str, problem: str) -> None:
    (found,) = violations({path: f"#pragma once\n{line}\n"})
    assert problem in found


def test_each_public_header_has_an_owner() -> None:
    assert {path.stem for path in (CPP / "include/rocktune").glob("*.h")} == set(OWNERS)
