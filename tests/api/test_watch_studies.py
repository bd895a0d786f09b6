"""The studies of a watch: what they are made of. No store is measured."""

from pathlib import Path

import numpy as np
import pytest
from tests.deploy.watch.made import intervals, log_text
from tests.importing.logs.made import document
from tests.report import sample
from tests.study.small_studies import engine_of, run, spec_of

from rocktune.analysis.profile import Profile
from rocktune.api import watch_studies
from rocktune.api.watch_studies import WatchedStore, proof_sentence, study_spec
from rocktune.errors import UserError
from rocktune.ledger import open_ledger
from rocktune.study import StudySpec, estimate, space_of
from rocktune.trial import Configuration
from rocktune.workload import WorkloadSpec, load_workload

OPTIONS = """[Version]
rocksdb_version=7.8.3
[DBOptions]
max_background_jobs=4
[CFOptions "default"]
write_buffer_size=67108864
comparator=leveldb.BytewiseComparator
[TableOptions/BlockBasedTable "default"]
block_size=4096
block_cache=1073741824
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WatchedStore:
    directory, own = tmp_path / "db", tmp_path / "watch"
    directory.mkdir()
    own.mkdir()
    made = list(intervals(np.random.default_rng(1), 12, reads=0.8))
    (directory / "LOG").write_text(log_text(made))
    (directory / "OPTIONS-000007").write_text(OPTIONS)
    workload = load_workload("dremel-write-heavy").offered(2000.0)
    monkeypatch.setattr(
        watch_studies, "_profile", lambda *_: (profile(workload), directory / "OPTIONS-000007")
    )
    return WatchedStore(directory, document(directory / "LOG"), made, own)


def profile(workload: WorkloadSpec) -> Profile:
    return Profile(workload, 2000.0, "default", False, 1 << 30, (), ())


def made(store: WatchedStore, base: StudySpec, budget: str | None = None) -> StudySpec:
    return study_spec(base, "new", store, budget, None)


def test_a_study_repeats_the_settings_and_has_only_live_knobs(
    store: WatchedStore, real_worker: tuple[str, ...]
) -> None:
    del real_worker
    base = spec_of(tuner="random", seed=7, constraints=["read_latency_us_p99<=1.25x"])
    spec = made(store, base)
    for field in ("tuner", "seed", "scale", "objective", "constraints", "protocol", "verification"):
        assert getattr(spec, field) == getattr(base, field), field
    assert spec.device.model_copy(update={"name": base.device.name}) == base.device
    assert spec.budget_s == pytest.approx(base.budget_s)
    here, there = ({knob.name for knob in space_of(each).knobs} for each in (spec, base))
    assert "write_buffer_size" in here < there
    assert "block_size" in there - here
    reasons = {spec.space["left_out"][name] for name in there - here}
    assert reasons == {"cannot change while the database is open"}
    assert spec.base_options is not None
    assert spec.base_options["db"]["max_background_jobs"] == "4"
    # The store's rate would be every configuration's throughput.
    assert spec.workload == spec.workload.closed()


@pytest.mark.parametrize(
    ("objective", "is_closed"),
    [("throughput_ops_s", True), ("balance", True), ("read_latency_us_p99", False)],
)
def test_a_study_at_a_rate_seeks_throughput_in_a_closed_loop(
    store: WatchedStore, real_worker: tuple[str, ...], objective: str, is_closed: bool
) -> None:
    del real_worker
    base = spec_of(objective=objective)
    # As 'rocktune profile' makes it. At the store's rate every configuration has the same throughput.
    base = base.model_copy(update={"workload": base.workload.offered(1000.0)})
    workload = made(store, base).workload
    assert (workload == workload.closed()) is is_closed


def test_a_smaller_store_gets_a_larger_share_of_it_as_model(
    store: WatchedStore, real_worker: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    del real_worker
    base = spec_of()
    small = base.workload.model_copy(update={"keys": base.workload.keys // 4})
    options = store.database / "OPTIONS-000007"
    monkeypatch.setattr(watch_studies, "_profile", lambda *_: (profile(small), options))
    spec = made(store, base)
    assert spec.scale == base.scale // 4
    assert spec.budget_s == pytest.approx(4 * base.budget_s)
    assert made(store, base, "30s").budget_s == 30


def test_a_machine_with_little_memory_gets_a_smaller_model(
    store: WatchedStore, real_worker: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    del real_worker
    base = spec_of()
    needed = made(store, base)
    monkeypatch.setattr(watch_studies, "_free_memory_bytes", lambda: 2 * _memory(needed) - 1)
    spec = made(store, base)
    assert spec.scale == 2 * base.scale
    assert spec.budget_s == pytest.approx(base.budget_s / 2)
    monkeypatch.setattr(watch_studies, "_free_memory_bytes", lambda: 1 << 20)
    with pytest.raises(UserError, match=r"watch: a study at 1/512 needs .* of memory .* free some"):
        made(store, base)


def _memory(spec: StudySpec) -> int:
    return estimate(spec).memory_bytes


def test_what_it_takes_over_is_in_its_own_space(
    store: WatchedStore, real_worker: tuple[str, ...], tmp_path: Path
) -> None:
    del real_worker
    base = spec_of(budget_s=1.875 * 16)
    path = str(tmp_path / "ledger.sqlite")
    with open_ledger(path) as ledger:
        run(base.model_copy(update={"name": "earlier"}), engine_of(), ledger)
    spec = study_spec(base, "new", store, None, path)
    assert spec.tried
    for each in spec.tried:
        assert each.study == "earlier"
        space_of(spec).validate(Configuration(each.configuration))


def test_the_sentence_on_a_proof_says_why_nothing_better_is_proven() -> None:
    assert proof_sentence("w", sample.outcome()).startswith("Study 'w' proves 1.57 (1.53 to 1.61) times ")
    busy = sample.outcome(reason="undecided: the machine was busy", recommended="baseline")
    assert proof_sentence("w", busy) == (
        "Study 'w' does not prove better options: 1.57 (1.53 to 1.61) on a 1/64 model. "
        "Undecided: the machine was busy during the proof, on a 1/64 model."
    )
