"""A watch of a real store under load, whose program has an OptionsWatcher."""

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.common.programs import find_program
from tests.report import sample

from rocktune import api
from rocktune.api import watching
from rocktune.deploy import read_watched
from rocktune.deploy.watch import Phase, Verdict, WatchState
from rocktune.engine.worker import WORKER_VARIABLE
from rocktune.errors import UserError

ROOT = Path(__file__).parents[2]
HEAD = '[Version]\n[DBOptions]\n{db}[CFOptions "default"]\n'
GOOD = HEAD.format(db="") + "write_buffer_size=33554432\n"
BAD = HEAD.format(db="delayed_write_rate=65536\n") + (
    "write_buffer_size=65536\narena_block_size=16384\n"
    "level0_file_num_compaction_trigger=1\nlevel0_slowdown_writes_trigger=1\n"
)
WAIT_S = 400.0


class Served:
    """A store and the program that serves it with one dump of statistics a second.

    Attributes:
        directory: the store's directory.
        winner: OPTIONS file that the next study recommends.
        studies: how many studies were run.
    """

    def __init__(self, directory: Path, mix: Path) -> None:
        self.directory = directory
        self.winner = GOOD
        self.studies = 0
        self._mix = mix

    @property
    def file(self) -> Path:
        return self.directory / "ROCKTUNE_OPTIONS"

    def turns(self, reads: float) -> None:
        """Changes the share of lookups."""
        self._mix.write_text(f"{reads}\n")

    def until(self, wanted: Callable[[WatchState], bool]) -> WatchState:
        """Looks until the watch has come to a state."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            (found,) = api.watch(self.directory / "LOG", "base", apply=self.file, once=True)
            if wanted(found.state):
                return found.state
            time.sleep(1)
        raise AssertionError([row.text for row in api.watch_journal("base")])


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_worker: tuple[str, ...]) -> Iterator[Served]:
    try:
        program = find_program("served_store_bench", ROOT)
    except UserError as error:
        pytest.skip(str(error))
    monkeypatch.setenv(WORKER_VARIABLE, real_worker[0])
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user-data"))
    made = Served(tmp_path / "db", tmp_path / "mix")
    made.turns(0.1)

    class Base:
        name = "base"
        model_dump_json = staticmethod(lambda: "{}")

    def run_study(*_: Any) -> bool:
        made.studies += 1
        return True

    monkeypatch.setattr(watching, "watched_study", lambda *_: Base)
    monkeypatch.setattr(watching, "recorded_study", lambda *_: None)
    monkeypatch.setattr(watching, "study_spec", lambda _base, name, *_: name)
    monkeypatch.setattr(watching, "run_study", run_study)
    monkeypatch.setattr(watching, "outcome_of", lambda *_: (sample.outcome(), made.winner))
    monkeypatch.setattr(watching, "proof_sentence", lambda name, _: f"Study '{name}' proves it.")
    process = subprocess.Popen(
        [program, made.directory, tmp_path / "mix", "2000"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    log = made.directory / "LOG"
    while not log.exists() or "STATISTICS:" not in log.read_text(errors="replace"):
        time.sleep(0.5)
    yield made
    printed, _ = process.communicate("", timeout=120)
    done, failed = map(int, printed.split())
    assert process.returncode == 0
    assert done > 0
    assert failed == 0


def settled(state: WatchState) -> bool:
    return state.phase is Phase.OBSERVING


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_store_that_turns_read_heavy_gets_options_and_its_old_ones_when_it_turns_back(
    served: Served,
) -> None:
    served.until(settled)
    served.turns(0.8)
    state = served.until(lambda state: settled(state) and state.current.number == 2)
    assert state.current.verdict is Verdict.CONFIRMED, [row.text for row in api.watch_journal("base")]
    assert read_watched(served.file) == {"cf:default": {"write_buffer_size": "33554432"}}
    served.turns(0.1)
    state = served.until(lambda state: settled(state) and state.current.number == 1)
    assert read_watched(served.file) == {"cf:default": {"write_buffer_size": "67108864"}}
    assert served.studies == 1


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_bad_recommendation_is_rolled_back_within_two_windows(served: Served) -> None:
    served.winner = BAD
    served.until(settled)
    served.turns(0.5)
    state = served.until(lambda state: settled(state) and state.current.number == 2)
    assert state.current.verdict is Verdict.REJECTED
    assert read_watched(served.file)["db"] == {"delayed_write_rate": "16777216"}
    events = [row.event for row in api.watch_journal("base")]
    # The second window would have ended with the confirmation.
    assert events[events.index("applied") : events.index("rolling back")].count("observed") <= 1
