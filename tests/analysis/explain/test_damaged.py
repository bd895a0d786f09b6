"""Damaged LOG files are explained as far as they can be read, and never end in a traceback."""

import random
import re
from pathlib import Path

import pytest
from tests.analysis.explain.made import Family, level0, log_text, memtables, pending
from tests.analysis.explain.stores import LOGS, log_of

from rocktune.cli.main import main

LARGE = ("0", "1", "999999999999999999", "-7", "1e300", "nan", "18446744073709551616", "")
CHOSEN = [log for log in LOGS if log.parent.name == "chosen" and not log.name.startswith("healthy")]


def mutated(text: str, rng: random.Random) -> str:
    """Returns a text with lines lost, doubled and swapped, numbers replaced, and an end cut off."""
    lines = text.splitlines()
    for _ in range(40):
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    for at in rng.sample(range(len(lines)), len(lines) // 5):
        lines[at] = re.sub(r"\d+(?:\.\d+)?", lambda match: rng.choice((match[0], *LARGE)), lines[at], count=3)
    kept = [line for line in lines if rng.random() > 0.05]
    joined = "\n".join(kept)
    return joined[: rng.randrange(len(joined) // 2, len(joined))]


def check(log: Path, seed: int, directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = directory / "LOG"
    path.write_text(mutated(log_of(log), random.Random(f"{log.name} {seed}")))
    for arguments in (["explain", str(path)], ["explain", str(path), "--json"]):
        code = main(arguments)
        outputs = capsys.readouterr()
        assert code in (0, 2), outputs.err
        assert "Traceback" not in outputs.out + outputs.err


@pytest.mark.parametrize("log", CHOSEN, ids=lambda log: log.name.removesuffix(".log.gz"))
def test_mutated_logs_never_end_in_a_traceback(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check(log, 0, tmp_path, capsys)


@pytest.mark.parametrize("number", ["9e307", "-9e307", "0", "99999999999999999999"])
@pytest.mark.parametrize("stall", [level0(20), memtables(4), pending(65 << 30)])
def test_numbers_beyond_all_bounds_do_no_harm(
    number: str, stall: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = log_text(
        {"default": Family({"max_background_jobs": 2})}, [stall] * 2, 30, {"number.keys.read": 5000}
    )
    path = tmp_path / "LOG"
    for pattern in (r"\b100\.0\b", r"(?<=: )\d+$", r"\b10\.0\b", r"\b2500\.00\b", r"(?<=:)30\.000"):
        path.write_text(re.sub(pattern, number, text, flags=re.MULTILINE))
        assert main(["explain", str(path)]) == 0
        assert "Traceback" not in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 21))
@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name.removesuffix(".log.gz"))
def test_many_mutated_logs(log: Path, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(log, seed, tmp_path, capsys)
