"""A watch of a database whose LOG the test writes; its studies are not measured."""

import errno
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from tests.deploy.watch.made import intervals, log_text
from tests.report import sample
from tests.study.small_studies import spec_of

from rocktune import api
from rocktune.analysis.profile import Profile
from rocktune.api import watch_options, watch_studies, watching
from rocktune.api.watch_studies import study_spec as made_spec
from rocktune.api.watching import WatchPass, watch_directory
from rocktune.deploy import read_watched, watched_text, write_watched
from rocktune.deploy.watch import Interval, Phase, Verdict
from rocktune.engine import RunFailed
from rocktune.engine.worker import WORKER_VARIABLE
from rocktune.errors import TransientError, UserError
from rocktune.study import StudySpec
from rocktune.trial import Status
from rocktune.workload import load_workload

OPTIONS = '[Version]\nrocksdb_version=7.8.3\n[DBOptions]\nmax_background_jobs=2\n[CFOptions "default"]\n'
OPTIONS += "write_buffer_size=67108864\ncomparator=leveldb.BytewiseComparator\n"
WINNER = '[Version]\nrocksdb_version=7.8.3\n[DBOptions]\n[CFOptions "default"]\nwrite_buffer_size=33554432\n'
NEW = {"cf:default": {"write_buffer_size": "33554432"}}
OLD = {"cf:default": {"write_buffer_size": "67108864"}}


class Store:
    """A database and the program that serves it, which takes the watched file at once.

    Attributes:
        directory: its directory.
        studies: names of the studies that were run.
        winner: OPTIONS file of what the next study recommends; empty for the baseline.
        failure: the error of the next study; None if it succeeds.
        reason: the reason of the next study's outcome, for which it decides nothing; empty if it decides.
        meanwhile: is called while a study runs.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.studies: list[str] = []
        self.winner = WINNER
        self.failure: Exception | None = None
        self.reason = ""
        self.meanwhile: Callable[[], None] = lambda: None
        self._made: list[Interval] = []
        self._rng = np.random.default_rng(1)
        directory.mkdir()
        (directory / "CURRENT").touch()
        (directory / "IDENTITY").write_text("12-ab")
        (directory / "OPTIONS-000007").write_text(OPTIONS)

    @property
    def file(self) -> Path:
        return self.directory / "ROCKTUNE_OPTIONS"

    def runs(self, count: int, reads: float = 0.1, latency_us: float = 20.0) -> None:
        self._made += intervals(self._rng, count, len(self._made), reads, latency_us)
        (self.directory / "LOG").write_text(log_text(self._made))

    def takes(self) -> None:
        live = read_watched(self.file)
        text = OPTIONS.replace("67108864", live.get("cf:default", {}).get("write_buffer_size", "67108864"))
        (self.directory / "OPTIONS-000009").write_text(text)

    def look(self, apply: bool = True, hours: str | None = None) -> WatchPass:
        (found,) = api.watch(
            self.directory / "LOG", "base", apply=self.file if apply else None, hours=hours, once=True
        )
        return found


class Clock:
    """The time of day that a watch sees."""

    moment = datetime(2026, 3, 4, 23)

    @classmethod
    def now(cls) -> datetime:
        return cls.moment


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_worker: tuple[str, ...]) -> Store:
    monkeypatch.setenv(WORKER_VARIABLE, real_worker[0])
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user-data"))
    made = Store(tmp_path / "db")

    class Base:
        name = "base"
        model_dump_json = staticmethod(lambda: "{}")

    def run_study(spec: object, _ledger: object, _directory: Path, may_run: Callable[[], bool]) -> bool:
        made.meanwhile()
        if made.failure is not None:
            raise made.failure
        if may_run():
            made.studies.append(str(spec))
        return may_run()

    monkeypatch.setattr(watching, "watched_study", lambda *_: Base)
    monkeypatch.setattr(watching, "recorded_study", lambda *_: None)
    monkeypatch.setattr(watching, "study_spec", lambda _base, name, *_: name)
    monkeypatch.setattr(watching, "run_study", run_study)
    monkeypatch.setattr(watching, "outcome_of", lambda *_: (sample.outcome(reason=made.reason), made.winner))
    monkeypatch.setattr(watching, "proof_sentence", lambda name, _: f"Study '{name}' proves it.")
    return made


@pytest.fixture
def real_studies(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StudySpec:
    """The study that the watch repeats, whose studies are made as in a real watch, of a given load."""
    base = spec_of(tuner="auto")
    monkeypatch.setattr(watching, "watched_study", lambda *_: base)
    load = Profile(
        load_workload("dremel-write-heavy").offered(2000.0), 2000.0, "default", False, 1 << 30, (), ()
    )
    file = store.directory / "OPTIONS-000007"
    file.write_text(OPTIONS + '[TableOptions/BlockBasedTable "default"]\nblock_cache=1073741824\n')
    monkeypatch.setattr(watch_studies, "_profile", lambda *_: (load, file))
    monkeypatch.setattr(watching, "study_spec", made_spec)
    return base


def _shifted(store: Store) -> None:
    store.runs(15)
    store.look()
    store.runs(15, reads=0.8)


def _predicted(store: Store) -> WatchPass:
    """Returns the look behind the intervals after a study from which the store's figures are predicted."""
    store.runs(9, reads=0.8)
    return store.look()


def test_a_dry_watch_proposes_and_writes_nothing(store: Store) -> None:
    store.runs(15)
    assert store.look(apply=False).rows == ("observing: Workload 1 is the one that the watch began with.",)
    store.runs(15, reads=0.8)
    found = store.look(apply=False)
    assert [row.partition(":")[0] for row in found.rows] == [
        "suspecting", "changed", "new workload", "tuning", "proposed",
    ]  # fmt: skip
    assert found.waits_for.startswith("Options are proposed and not applied; --apply FILE applies them: ")
    assert found.waits_for.endswith("cf:default write_buffer_size=33554432")
    assert len(store.studies) == 1
    assert not store.file.exists()
    # Nothing is done twice: the same evidence leads to nothing more.
    assert store.look(apply=False).rows == ()
    assert len(store.studies) == 1


def test_what_no_study_can_be_made_with_is_said_before_the_first_look(
    store: Store, real_studies: StudySpec
) -> None:
    """The minimum of the budget is the tuner's own."""
    store.runs(15)
    (found,) = re.findall(r"it takes at least (\S+) s", _refusal(store, budget="1s"))
    min_s = float(found)
    assert min_s > 1
    assert "it takes at least" in _refusal(store, budget=f"{0.99 * min_s}s")
    # Nothing was seen or judged yet.
    assert list(api.watch_journal("base")) == []
    (look,) = api.watch(store.directory / "LOG", "base", budget=f"{1.001 * min_s}s", once=True)
    assert look.rows == ("observing: Workload 1 is the one that the watch began with.",)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (".", "it is no regular file"),
        ("CURRENT", "it is no complete watched file"),
        ("missing/file", "its directory is missing"),
        ("loop", "cannot be"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_at_the_start(store: Store, name: str, message: str) -> None:
    store.runs(15)
    store.look()
    (store.directory / "loop").symlink_to("loop")
    with pytest.raises(UserError, match=message):
        next(api.watch(store.directory / "LOG", "base", apply=store.directory / name, once=True))


def test_a_lack_of_memory_is_said_before_the_first_look(
    store: Store, real_studies: StudySpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The minimum of the memory is that of a study at the smallest scale."""
    store.runs(15)
    monkeypatch.setattr(watch_studies, "_free_memory_bytes", lambda: 1 << 20)
    said = _refusal(store)
    assert re.search(r"watch: a study at 1/512 needs \S+ of memory .* and may take 512KiB", said)


def _refusal(store: Store, **given: str) -> str:
    with pytest.raises(UserError) as refused:
        list(api.watch(store.directory / "LOG", "base", once=True, **given))  # type: ignore[arg-type]
    return str(refused.value)


def test_a_watch_that_goes_on_rolls_back_whatever_a_study_would_need(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_small(*_given: object) -> str:
        raise UserError("watch: a study at 1/512 needs 3GiB of memory; free some")

    _shifted(store)
    store.look()
    _predicted(store)
    store.takes()
    store.runs(5, reads=0.8, latency_us=60)
    monkeypatch.setattr(watching, "study_spec", too_small)
    assert [row.partition(":")[0] for row in store.look().rows] == ["rolling back", "rolled back"]
    assert read_watched(store.file) == OLD


def test_a_store_without_operations_yet_is_watched_without_a_check(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_load(*_given: object) -> str:
        raise AssertionError

    monkeypatch.setattr(watching, "study_spec", no_load)
    store.runs(0)
    assert store.look().rows == ()


def test_good_options_are_applied_and_confirmed_and_a_shift_back_needs_no_study(store: Store) -> None:
    _shifted(store)
    found = store.look()
    assert found.state.phase is Phase.PROPOSED
    assert found.waits_for == (
        "Intervals before the options can be applied, to predict the live figures from: 8."
    )
    assert _predicted(store).state.phase is Phase.APPLIED
    assert read_watched(store.file) == NEW
    assert "id=12-ab" in store.file.read_text()
    store.takes()
    store.runs(10, reads=0.8, latency_us=15)
    assert store.look().state.current.verdict is Verdict.CONFIRMED
    store.runs(16, reads=0.1)
    found = store.look()
    assert "recognised: This is workload 1 again." in found.rows
    assert read_watched(store.file) == OLD
    assert len(store.studies) == 1


def test_bad_options_are_rolled_back_to_the_values_before(store: Store) -> None:
    _shifted(store)
    store.look()
    _predicted(store)
    store.takes()
    store.runs(5, reads=0.8, latency_us=60)
    found = store.look()
    assert [row.partition(":")[0] for row in found.rows] == ["rolling back", "rolled back"]
    assert read_watched(store.file) == OLD
    assert found.state.current.verdict is Verdict.REJECTED
    store.runs(20, reads=0.8)
    assert store.look().rows == ()


def test_figures_that_a_study_disturbed_predict_nothing(store: Store) -> None:
    _shifted(store)
    # The study loads the store's machine, and the store has three times its latencies.
    store.meanwhile = lambda: store.runs(20, reads=0.8, latency_us=60)
    store.look()
    _predicted(store)
    store.takes()
    store.runs(1, reads=0.8)
    store.runs(4, reads=0.8, latency_us=60)
    assert [row.partition(":")[0] for row in store.look().rows] == ["rolling back", "rolled back"]


def test_figures_that_a_part_of_a_study_disturbed_predict_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "datetime", Clock)
    monkeypatch.setattr(Clock, "moment", datetime(2026, 3, 4, 23))
    _shifted(store)

    def disturbed_until_six() -> None:
        store.runs(20, reads=0.8, latency_us=60)
        Clock.moment = datetime(2026, 3, 5, 6)

    store.meanwhile = disturbed_until_six
    assert store.look(hours="22-06").waits_for == "The study waits for the hours 22-06."
    assert {
        each.waited_s["get"][1] for each in store.look(hours="22-06").state.current.intervals if _slow(each)
    } == set()


def _slow(interval: Interval) -> bool:
    count, total_s = interval.waited_s["get"]
    return total_s / count > 40e-6


def test_options_that_the_program_does_not_take_are_rolled_back(store: Store) -> None:
    _shifted(store)
    store.look()
    _predicted(store)
    store.runs(5, reads=0.8)
    found = store.look()
    assert "rolling back: The program has not taken all options: cf default write_buffer_size." in found.rows
    assert read_watched(store.file) == OLD


def test_a_file_that_somebody_else_replaced_is_left_alone(store: Store) -> None:
    _shifted(store)
    store.look()
    _predicted(store)
    store.takes()
    store.runs(5, reads=0.8, latency_us=60)
    theirs = {"cf:default": {"write_buffer_size": "1048576"}}
    watch_options.write_options(store.directory, store.file, theirs)
    found = store.look()
    assert found.rows[-1].startswith("left alone: ")
    assert read_watched(store.file) == found.state.in_force == theirs


def test_options_of_an_earlier_file_stay_in_force(store: Store) -> None:
    earlier = {"db": {"max_background_jobs": "4"}}
    watch_options.write_options(store.directory, store.file, earlier)
    _shifted(store)
    store.look()
    _predicted(store)
    assert read_watched(store.file) == earlier | NEW


@pytest.mark.parametrize("when", ["before the study", "during the study"])
def test_options_that_somebody_else_brings_meanwhile_are_not_taken_back(store: Store, when: str) -> None:
    theirs = {"db": {"max_background_jobs": "4"}}

    def bring() -> None:
        watch_options.write_options(store.directory, store.file, theirs)

    _shifted(store)
    if when == "before the study":
        bring()
    else:
        store.meanwhile = bring
    found = store.look()
    assert any(row.startswith("noticed: ") for row in found.rows)
    found = _predicted(store)
    assert read_watched(store.file) == found.state.in_force == theirs | NEW
    store.takes()
    store.runs(5, reads=0.8, latency_us=60)
    store.look()
    assert read_watched(store.file) == theirs | OLD


@pytest.mark.parametrize("kills", [1, 2])
@pytest.mark.parametrize("after_writing", [False, True])
def test_a_kill_while_the_file_is_written_repeats_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, kills: int, after_writing: bool
) -> None:
    _shifted(store)
    store.look()
    store.runs(9, reads=0.8)
    write = watch_options.write_options
    left = [kills]

    def killed(database: Path, path: Path, live: dict[str, dict[str, str]]) -> None:
        if after_writing or not left[0]:
            write(database, path, live)
        if left[0]:
            left[0] -= 1
            raise SystemExit

    monkeypatch.setattr(watching, "write_options", killed)
    for _ in range(kills):
        with pytest.raises(SystemExit):
            store.look()
    assert store.look().rows == ("applied: The watched file is written.",)
    assert read_watched(store.file) == NEW
    assert len(store.studies) == 1
    events = [row.event for row in api.watch_journal("base") if row.event != "read"]
    assert events.count("applying") == events.count("applied") == events.count("tuning") == 1


def test_the_journal_of_another_database_is_refused(
    store: Store, tmp_path: Path, real_worker: tuple[str, ...]
) -> None:
    store.runs(15)
    store.look()
    other = Store(tmp_path / "other")
    other.runs(15)
    with pytest.raises(UserError, match=r"has the watch of .*/db; watch .*/other with another study"):
        other.look()
    assert store.look().rows == ()


def test_a_second_watch_that_applies_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.runs(15)
    first = api.watch(store.directory / "LOG", "base", apply=store.file)
    next(first)
    # Locks of one process exclude each other, too.
    with pytest.raises(UserError, match="another watch applies options to it; end that one"):
        next(api.watch(store.directory / "LOG", "second", apply=store.file, once=True))
    # Whoever applies nothing does no harm.
    assert next(api.watch(store.directory / "LOG", "second", once=True)).state.phase is Phase.OBSERVING
    first.close()  # type: ignore[attr-defined]
    store.look()


@pytest.mark.parametrize("dropped_before", ["applying", "rolling back"])
def test_a_column_family_that_is_dropped_meanwhile_stops_nothing(store: Store, dropped_before: str) -> None:
    second = '[CFOptions "second"]\nwrite_buffer_size=67108864\ncomparator=leveldb.BytewiseComparator\n'
    (store.directory / "OPTIONS-000007").write_text(OPTIONS + second)
    write_watched(store.file, watched_text({"cf:second": {"write_buffer_size": "67108864"}}))
    both = NEW | {"cf:second": {"write_buffer_size": "67108864"}}

    def drop() -> None:
        (store.directory / "OPTIONS-000008").write_text(OPTIONS)

    _shifted(store)
    if dropped_before == "applying":
        store.meanwhile = drop
    store.look()
    _predicted(store)
    assert read_watched(store.file) == (NEW if dropped_before == "applying" else both)
    store.takes()
    store.runs(5, reads=0.8, latency_us=60)
    events = [row.partition(":")[0] for row in store.look().rows]
    assert events == ["rolling back", "rolled back"]
    assert read_watched(store.file) == OLD


def test_a_study_waits_for_its_hours(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "datetime", Clock)
    monkeypatch.setattr(Clock, "moment", datetime(2026, 3, 4, 12))
    _shifted(store)
    assert store.look(hours="22-06").waits_for == "The study waits for the hours 22-06."
    assert store.studies == []
    monkeypatch.setattr(Clock, "moment", datetime(2026, 3, 4, 23))
    assert store.look(hours="22-06").state.phase is Phase.PROPOSED
    assert len(store.studies) == 1


def test_a_study_that_finds_nothing_better_changes_nothing(store: Store) -> None:
    store.winner = ""
    _shifted(store)
    assert store.look().rows[-1].startswith("kept: ")
    assert not store.file.exists()
    store.runs(20, reads=0.8)
    assert store.look().rows == ()


@pytest.mark.parametrize(
    "failure",
    [
        TransientError("study 'x': no memory"),
        UserError("profile: the source shows no data"),
        RunFailed(Status.CRASHED, "killed by SIGKILL"),
        OSError(errno.ENOSPC, "No space left on device", "/w/space.toml"),
        MemoryError(),
    ],
)
def test_a_study_that_fails_for_the_moment_is_continued_in_the_next_hours(
    store: Store, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    monkeypatch.setattr(watching, "datetime", Clock)
    monkeypatch.setattr(Clock, "moment", datetime(2026, 3, 4, 23))
    store.failure = failure
    _shifted(store)
    found = store.look(hours="22-06")
    assert found.rows[-1].startswith("postponed: ")
    assert found.rows[-1].endswith("It is tried again from 2026-03-05 22:00 on (attempt 1 of 5).")
    assert found.waits_for == "The study is tried again from 2026-03-05 22:00 on."
    monkeypatch.setattr(Clock, "moment", datetime(2026, 3, 5, 3))
    store.failure = None
    assert store.look(hours="22-06").rows == ()
    monkeypatch.setattr(Clock, "moment", datetime(2026, 3, 5, 22))
    assert store.look(hours="22-06").state.phase is Phase.PROPOSED
    events = [row.event for row in api.watch_journal("base")]
    assert events.count("tuning") == events.count("postponed") == 1


def test_a_study_is_not_tried_for_ever(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "datetime", Clock)
    store.failure = TransientError("study 'x': no memory")
    _shifted(store)
    for day in range(4, 8):
        monkeypatch.setattr(Clock, "moment", datetime(2026, 3, day, 22))
        assert store.look(hours="22-06").rows[-1].startswith("postponed: ")
    monkeypatch.setattr(Clock, "moment", datetime(2026, 3, 8, 22))
    assert store.look(hours="22-06").rows == ("not tuned: study 'x': no memory (attempt 5 of 5)",)
    store.failure = None
    monkeypatch.setattr(Clock, "moment", datetime(2026, 3, 9, 22))
    assert store.look(hours="22-06").rows == ()
    assert store.look(hours="22-06").state.current.verdict is Verdict.UNTUNED


def test_a_proof_on_a_busy_machine_is_made_again_later(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "datetime", Clock)
    monkeypatch.setattr(Clock, "moment", datetime(2026, 3, 4, 23))
    store.reason, winner, store.winner = "undecided: the machine was busy", store.winner, ""
    _shifted(store)
    found = store.look(hours="22-06")
    assert found.rows[-1].startswith("postponed: ")
    assert found.rows[-1].endswith("It is tried again from 2026-03-05 22:00 on (attempt 1 of 5).")
    assert found.state.current.verdict is Verdict.UNKNOWN
    monkeypatch.setattr(Clock, "moment", datetime(2026, 3, 5, 22))
    store.reason, store.winner = "", winner
    assert store.look(hours="22-06").state.phase is Phase.PROPOSED
    # A finished study is not run again.
    assert [row.event for row in api.watch_journal("base")].count("tuning") == 2


def _not_tuned(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "datetime", Clock)
    store.failure = UserError("budget: 1 s is too small for tuner 'auto'")
    _shifted(store)
    for hour in range(5):
        monkeypatch.setattr(Clock, "moment", datetime(2026, 3, 4, 10 + 2 * hour))
        rows = store.look().rows
    assert rows == ("not tuned: budget: 1 s is too small for tuner 'auto' (attempt 5 of 5)",)
    store.failure = None


def test_a_watch_with_other_settings_tunes_what_could_not_be_tuned(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    _not_tuned(store, monkeypatch)
    assert store.look().rows == ()
    (found,) = api.watch(store.directory / "LOG", "base", apply=store.file, budget="1h", once=True)
    assert found.state.phase is Phase.PROPOSED
    events = [row.event for row in api.watch_journal("base")]
    assert events.count("tried again") == 1
    assert events.count("tuning") == 2


def test_a_workload_that_could_not_be_tuned_is_tried_when_it_comes_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    _not_tuned(store, monkeypatch)
    store.runs(16, reads=0.1)
    assert "recognised: This is workload 1 again." in store.look().rows
    assert store.studies == []
    store.runs(16, reads=0.8)
    found = store.look()
    assert "recognised: This is workload 2 again." in found.rows
    assert found.state.phase is Phase.PROPOSED
    assert len(store.studies) == 1


def test_other_errors_of_files_are_no_shortage(store: Store) -> None:
    store.failure = PermissionError(errno.EACCES, "Permission denied", "/w/space.toml")
    _shifted(store)
    with pytest.raises(UserError, match=r"watch: /w/space.toml: Permission denied"):
        store.look()
    assert not [row for row in api.watch_journal("base") if row.event in ("postponed", "not tuned")]


def test_options_of_a_governor_are_its_own(store: Store) -> None:
    store.winner = WINNER + "level0_stop_writes_trigger=50\n"
    (store.directory / "ROCKTUNE_GOVERNOR").touch()
    _shifted(store)
    store.look()
    _predicted(store)
    assert read_watched(store.file) == NEW


def test_a_watch_survives_a_log_that_is_away(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.runs(15)
    log = store.directory / "LOG"
    said: list[str] = []

    def sleep(_seconds: float) -> None:
        if log.exists() and not said:
            log.rename(store.directory / "away")
        elif said:
            (store.directory / "away").rename(log)

    monkeypatch.setattr("rocktune.api.watching.time.sleep", sleep)
    passes = api.watch(log, "base", notify=said.append)
    assert next(passes).state.phase is Phase.OBSERVING
    said.clear()
    assert next(passes).rows == ()
    assert len(said) == 1
    assert "LOG" in said[0]
    passes.close()  # type: ignore[attr-defined]


def test_the_directory_is_rocktunes(store: Store) -> None:
    _shifted(store)
    store.look()
    assert (watch_directory("base") / ".rocktune-data").exists()
