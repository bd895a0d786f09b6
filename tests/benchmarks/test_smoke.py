"""Benchmarks as people start them, with --quick. All of them: pytest tests/benchmarks -m slow."""

import dataclasses
import json
import math
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.common.claims import KINDS, TARGET, UNDECIDABLE, Claim, Measured
from benchmarks.common.programs import find_program

from rocktune.errors import UserError

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = {
    "flsm.pieces": "flsm_pieces_bench",
    "flsm.serving": "flsm_serving_bench",
    "ruskey.controller_cost": "adaptive_serving_bench",
    "rocktune.options_watcher": "options_watcher_bench",
    "rocktune.throttle": "device_bench",
    "rocktune.watched_store": "served_store_bench",
}
"""Programs of the C++ build that benchmarks need."""
IN_EVERY_RUN = ("dremel.buckets", "rocktune.repeatability")


def _is_benchmark(path: Path) -> bool:
    return f"def {path.stem}(settings: Settings) -> list[Claim]:" in path.read_text()


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "benchmarks").with_suffix("").parts)


BENCHMARKS = sorted(_module(path) for path in (ROOT / "benchmarks").rglob("*.py") if _is_benchmark(path))


def run(name: str, scratch: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Runs a benchmark. A test that times out kills the programs that the benchmark started, too."""
    with subprocess.Popen(
        [sys.executable, "-m", f"benchmarks.{name}", *flags],
        cwd=ROOT,
        env=os.environ | {"ROCKTUNE_DATA": str(scratch / "data")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output, errors = process.communicate()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def skip_without_its_program(name: str) -> None:
    if (
        name in ("rocktune.db_bench_agreement", "rocktune.explain", "rocktune.runner_against_db_bench")
        and shutil.which("db_bench") is None
    ):
        pytest.skip("db_bench is not here")
    if name == "rocktune.killed_migrations" and shutil.which("ldb") is None:
        pytest.skip("ldb is not here")
    if name == "jia_chen.evolutionary_reference" and not (ROOT / "build" / "jmetalpy").exists():
        pytest.skip(
            "jMetalPy is not here; python -m benchmarks.jia_chen.evolutionary_reference --quick fetches it"
        )
    if name == "rocktune.ray_scaling":
        pytest.importorskip("ray", reason="Ray is not installed")
    if name in ("alabed.synthetic", "alabed.suggestion_time"):
        pytest.importorskip("botorch", reason="BoTorch is not installed")
    if name == "ruskey.ddpg_reference":
        pytest.importorskip("torch", reason="PyTorch is not installed")
    if name in PROGRAMS:
        try:
            find_program(PROGRAMS[name], ROOT)
        except UserError as error:
            pytest.skip(str(error))


def check_claims(name: str, scratch: Path) -> None:
    finished = run(name, scratch, "--quick", "--json", "--out", str(scratch / "out"))
    assert finished.returncode == 0, finished.stderr
    claims = json.loads(finished.stdout)
    assert claims == json.loads((scratch / "out" / "claims.json").read_text())
    assert claims
    for claim in claims:
        assert set(claim) == {field.name for field in dataclasses.fields(Claim)}
        assert set(claim["measured"]) == {field.name for field in dataclasses.fields(Measured)}
        assert all(math.isfinite(figure) for figure in claim["measured"].values())
        texts = (
            "name",
            "source",
            "unit",
            "experiment",
            "command",
            "engine",
            "device",
            "scale",
            "commit",
            "date",
        )
        assert all(claim[field] and isinstance(claim[field], str) for field in texts)
        # A benchmark may repeat a claim of another one next to its own.
        assert claim["command"].startswith("python -m benchmarks.")
        assert claim["kind"] in KINDS
        assert bool(claim["target"]) == (claim["kind"] == TARGET)
        assert claim["holds"] == (UNDECIDABLE if claim["kind"] == TARGET else None)
        assert claim["why"]
    assert any(claim["command"].startswith(f"python -m benchmarks.{name} ") for claim in claims)


def test_all_benchmarks_are_found() -> None:
    assert len(BENCHMARKS) == 82
    assert set(IN_EVERY_RUN) < set(BENCHMARKS)


@pytest.mark.parametrize("name", IN_EVERY_RUN)
def test_smoke_run(name: str, tmp_path: Path) -> None:
    check_claims(name, tmp_path)


# Runs that wait for a store take up to five minutes, and longer on a busy machine. This limit is for hangs.
@pytest.mark.timeout(900)
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in BENCHMARKS if name not in IN_EVERY_RUN])
def test_smoke_run_of_the_others(name: str, tmp_path: Path) -> None:
    skip_without_its_program(name)
    check_claims(name, tmp_path)


def test_bad_flags_get_one_line(tmp_path: Path) -> None:
    wrong_scale = run("dremel.halving", tmp_path, "--scale", "7")
    assert wrong_scale.returncode == 2
    assert "scale: '7' is not a scale" in wrong_scale.stderr
    wrong_setting = run("dremel.halving", tmp_path, "--quick", "--settings", "dremel-nutanics")
    assert wrong_setting.returncode == 2
    assert wrong_setting.stdout == ""
    assert wrong_setting.stderr.splitlines() == [
        "unknown workload 'dremel-nutanics': did you mean 'dremel-nutanix'?"
    ]
