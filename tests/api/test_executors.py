"""Several workers."""

from typing import Any

import pytest
from tests.api.engines import Engines, Tune

from rocktune import api
from rocktune.errors import UserError
from rocktune.study import Observer
from rocktune.study.specs.sweeping import HowToSweep
from rocktune.testing.dying import Died, DiesAfter


def test_several_workers_come_to_the_same(tune: Tune, engines: Engines, ledger: str) -> None:
    def proven(outcome: dict[str, Any]) -> list[Any]:
        return [outcome[name] for name in ("best", "baseline", "ratio_to_baseline", "options_that_matter")]

    whole = tune()
    api.delete("mine", ledger=ledger)
    assert len(engines.opened) == 1
    with pytest.raises(Died):
        tune(executor="local:3", observer=DiesAfter(9))
    assert len(engines.opened) == 4
    resumed = api.resume("mine", ledger=ledger, executor="local:2")
    assert isinstance(resumed, api.Outcome)
    assert proven(resumed.to_json()) == proven(whole)
    assert len(engines.opened) == 6
    verified = api.verify("mine", "1/16", ledger=ledger, executor="local:2").to_json()
    assert verified["verified_at_scale"] == "1/16"


def test_a_sweep_with_several_workers(engines: Engines, ledger: str) -> None:
    given: dict[str, Any] = {"workload": "zipfian", "how": HowToSweep(5), "ledger": ledger}
    tables = [api.sweep(study=f"s{lanes}", executor=f"local:{lanes}", **given) for lanes in (1, 2)]
    assert tables[0]["best"] == tables[1]["best"]
    assert tables[0]["noise"] == tables[1]["noise"]


class Notes(Observer):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_workers_in_each_others_way_are_told_of(tune: Tune, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2})
    notes = Notes()
    tune(executor="local:2", observer=notes)
    # Dremel's workloads have 16 threads.
    assert [note for note in notes.notes if "need 36 cores, but there are 3" in note]


@pytest.mark.parametrize(
    ("executor", "address", "said"),
    [
        ("local:0", None, "executor: unknown executor 'local:0'; use local:N"),
        ("loca:2", None, "executor: unknown executor 'loca:2'"),
        ("ray:2", None, "executor: unknown executor 'ray:2'"),
        (None, "h:1", "address: only a Ray cluster has one; add '--executor ray'"),
    ],
)
def test_wrong_executors_are_refused(
    tune: Tune, engines: Engines, executor: str | None, address: str | None, said: str
) -> None:
    with pytest.raises(UserError, match=said):
        tune(executor=executor, address=address)
    assert not engines.opened


def test_without_ray_one_line_says_how_to_get_it(tune: Tune, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"'pip install rocktune\[ray\]'"):
        tune(executor="ray")
