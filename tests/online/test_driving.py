"""Tests for driving real stores through sessions."""

import itertools
import json
from pathlib import Path
from typing import Any, cast

import pytest

from rocktune import api
from rocktune.api.driving import converged_at
from rocktune.cli.main import main
from rocktune.device import load_device
from rocktune.engine import EmbeddedEngine
from rocktune.errors import UserError
from rocktune.online import DrivenMission, DriveRequest, load_sessions, run_drive
from rocktune.online.control import Controller, Curve, Decision, Static
from rocktune.trial import Experiment
from rocktune.workload import load_workload

Outputs = pytest.CaptureFixture[str]

WORKLOAD = """
keys = 20000
key_bytes = 16
value = 100
mix = {{get = {get}, put = {put}}}
preload = {{keys = 20000}}
"""
SMALL = {"write_buffer_size": "65536"}


@pytest.fixture(autouse=True)
def data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKTUNE_DATA", str(tmp_path / "data"))


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    for name, get in (("reads", 0.9), ("writes", 0.1)):
        (tmp_path / f"{name}.toml").write_text(WORKLOAD.format(get=get, put=round(1 - get, 1)))
    file = tmp_path / "sessions.toml"
    file.write_text(
        f"""
name = "there and back"
[[sessions]]
workload = "{tmp_path / "writes.toml"}"
missions = 6
[[sessions]]
workload = "{tmp_path / "reads.toml"}"
missions = 5
"""
    )
    return file


class OpeningError(Exception):
    """Instead of a run."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment


class NoEngine:
    """Tells what it was to open."""

    def open(self, experiment: Experiment, *_: Any) -> None:
        raise OpeningError(experiment)


@pytest.mark.parametrize(
    ("scale", "given", "wanted"),
    [(1, {}, "64"), (16, {}, "4"), (128, {}, "1"), (16, {"sample_every": "7"}, "7")],
)
def test_a_mission_has_as_many_lookups_looked_at_as_at_full_size(
    scale: int, given: dict[str, str], wanted: str
) -> None:
    request = DriveRequest(
        [(load_workload("ruskey-balanced"), 1)], load_device("none"), scale, options={"flsm": given}
    )
    with pytest.raises(OpeningError) as opening:
        run_drive(cast(EmbeddedEngine, NoEngine()), request, Static())
    assert opening.value.experiment.base_options["flsm"]["sample_every"] == wanted


@pytest.mark.parametrize(("controller", "wanted"), [(Curve("uniform"), "0"), (Static(), None)])
def test_only_levelwise_controllers_have_flushes_merged_at_once(
    controller: Controller, wanted: str | None
) -> None:
    request = DriveRequest(
        [(load_workload("ruskey-balanced"), 1)], load_device("none"), 16, options={"flsm": {}}
    )
    with pytest.raises(OpeningError) as opening:
        run_drive(cast(EmbeddedEngine, NoEngine()), request, controller)
    assert opening.value.experiment.base_options["flsm"].get("level0_runs") == wanted


def test_thresholds_follow_the_workload_from_session_to_session(sessions: Path, tmp_path: Path) -> None:
    found = api.drive(
        sessions=str(sessions), controller="greedy:0.4,0.6", device="none", scale="1", operations=2000,
        options=SMALL, out=tmp_path / "out",
    )  # fmt: skip
    assert [session["missions"] for session in found["per_session"]] == [6, 5]
    firsts = [mission["policy"][0] for mission in found["missions"]]
    # Up by one after each mission of writes, down again after those of reads; between the store is opened.
    assert firsts == [1, 2, 3, 4, 5, 6, 7, 6, 5, 4, 3]
    assert found["missions"][0]["read_share"] == pytest.approx(0.1, abs=0.03)
    assert found["missions"][-1]["read_share"] == pytest.approx(0.9, abs=0.03)
    assert found["seconds"] == pytest.approx(sum(mission["seconds"] for mission in found["missions"]))
    page = found["report"].read_text()
    assert "Policy changes and their reasons" in page
    assert "there and back" in page


def test_the_cost_controller_gives_a_reason_for_each_change(sessions: Path) -> None:
    found = api.drive(
        sessions=str(sessions), controller="cost", device="none", scale="1", operations=2000, options=SMALL
    )
    assert found["controller"] == "cost"
    missions = found["missions"]
    assert {mission["phase"] for mission in missions} == {"estimating"}
    for before, after in itertools.pairwise(missions):
        assert before["why"] or after["policy"] == before["policy"]


def test_the_cost_controller_refuses_a_store_that_pushes_files(capsys: Outputs) -> None:
    line = "drive --device none --controller cost --option flsm_granularity=files"
    assert main(line.split()) == 2
    assert "controller 'cost' needs granularity levels, not files" in capsys.readouterr().err


@pytest.mark.parametrize("store", ["leveled", "universal"])
def test_stores_of_rocksdb_have_no_policies(sessions: Path, store: str) -> None:
    found = api.drive(
        sessions=str(sessions), store=store, device="none", scale="1", operations=500, options=SMALL
    )
    assert found["controller"] == store
    assert all(mission["policy"] == [] for mission in found["missions"])


def test_the_command_shows_sessions_or_json(sessions: Path, tmp_path: Path, capsys: Outputs) -> None:
    line = f"drive --sessions {sessions} --controller static:3 --device none --scale 1 --operations 500"
    line += f" --option write_buffer_size=65536 --out {tmp_path / 'out'}"
    assert main(line.split()) == 0
    shown = capsys.readouterr().out
    assert "there and back on none with static:3" in shown
    assert (tmp_path / "out" / "drive.html").exists()
    assert main([*line.split(), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["per_session"][0]["converged_at_mission"] == 1
    assert found["missions"][0]["policy"][0] == 3


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--device sata --controller lrp", "did you mean 'lerp'"),
        ("--device sata --sessions ruskey-dynamc", "did you mean 'ruskey-dynamic'"),
        ("--device sata --store univrsal", "did you mean 'universal'"),
        (
            "--device sata --controller static:1 --operations 10 --scale 1/128",
            "are too few for a 1/128 model",
        ),
        ("--device sata --sessions nowhere.toml", "nowhere.toml: cannot be read"),
        ("--device sata --store leveled --controller lerp", "no policies for 'lerp' to set"),
        ("--controller lerp", "see 'rocktune list devices'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(capsys: Outputs, line: str, message: str) -> None:
    assert main(["drive", *line.split()]) == 2
    said = capsys.readouterr().err.strip()
    assert message in said
    assert "\n" not in said


def test_sessions_use_the_same_keys(tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(WORKLOAD.format(get=0.5, put=0.5))
    file = tmp_path / "sessions.toml"
    file.write_text(
        f"""
name = "apart"
sessions = [{{workload = "ruskey-balanced", missions = 1}}, {{workload = "{other}", missions = 1}}]
"""
    )
    with pytest.raises(UserError, match=r"session 2 .* has keys = 20000, the first one 100000000"):
        load_sessions(str(file)).workloads()


def test_a_workload_is_a_session() -> None:
    assert [workload.name for workload in load_sessions("ruskey-balanced").workloads()] == ["ruskey-balanced"]


def mission(converged: bool) -> DrivenMission:
    return DrivenMission(0, 1.0, 1.0, 0.5, (1,), Decision(converged=converged), 0.0)


@pytest.mark.parametrize(
    ("course", "settled"), [("ccc", 1), ("oocc", 3), ("cocc", 3), ("ooo", None), ("cco", None)]
)
def test_settled_is_who_stays_settled(course: str, settled: int | None) -> None:
    assert converged_at([mission(each == "c") for each in course]) == settled
