"""Tuning, resuming and verifying."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.api.engines import OWN, Engines, Tune

from rocktune import api
from rocktune.errors import UserError
from rocktune.ledger import open_ledger
from rocktune.study import Observer
from rocktune.testing.dying import Died, DiesAfter
from rocktune.trial import Result, Status


def test_tuning_leaves_an_options_file_and_a_report(tune: Tune, tmp_path: Path, ledger: str) -> None:
    outcome = tune(out=tmp_path / "out")
    options, report = Path(outcome["options_file"]), Path(outcome["report"])
    assert {options, report} == set((tmp_path / "out").iterdir())
    assert f"write_buffer_size={outcome['best']['configuration']['write_buffer_size']}" in options.read_text()
    assert "<html" in report.read_text()
    assert outcome["recommended"] == "best"
    assert (outcome["engine"], outcome["assertions"]) == ("RocksDB 7.8.3, assertions on", True)
    json.dumps(outcome, allow_nan=False)
    assert api.show("mine", ledger=ledger)["outcome"] == outcome


def test_without_a_directory_files_go_to_one_of_the_studys_name(tune: Tune, tmp_path: Path) -> None:
    assert tune()["options_file"] == str(tmp_path / "mine" / "OPTIONS")


def test_without_a_name_a_study_is_called_after_what_it_tunes(tune: Tune) -> None:
    name = tune(study=None)["study"]
    assert name.startswith("dremel-write-heavy-none-20")


def test_the_same_name_with_the_same_settings_is_the_same_study(
    tune: Tune, engines: Engines, tmp_path: Path
) -> None:
    first = tune()
    Path(first["report"]).unlink()
    assert tune() == first
    assert engines.opened[1].opened == []
    assert Path(first["report"]).is_file()
    with pytest.raises(UserError, match="name is taken"):
        tune(seed=9, out=tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_resuming_goes_on_and_remembers_the_directory(
    tune: Tune, engines: Engines, ledger: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Died):
        tune(out="out", observer=DiesAfter(3))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert api.show("mine", ledger=ledger)["outcome"] is None
    for not_yet in (
        lambda: api.export("mine", "options-file", ledger=ledger),
        lambda: api.report("mine", ledger=ledger),
    ):
        with pytest.raises(UserError, match="'mine' is not finished; 'rocktune resume mine' continues it"):
            not_yet()
    outcome = api.resume("mine", ledger=ledger)
    assert isinstance(outcome, api.Outcome)
    assert outcome.options_file == str(tmp_path / "out" / "OPTIONS")
    with open_ledger(ledger) as opened:
        trials = opened.trials(opened.study("mine"))
    # A run has several ages in the search and at the offered rate. The death in between made two of the
    # baseline's run.
    runs = len({(record.phase, record.trial.run) for record in trials}) + 1
    assert sum(len(engine.opened) for engine in engines.opened) == runs


def test_resuming_what_is_not_there_suggests_the_nearest(tune: Tune, ledger: str) -> None:
    tune()
    with pytest.raises(UserError, match="did you mean 'mine'"):
        api.resume("mien", ledger=ledger)


def test_verifying_writes_the_files_again(tune: Tune, ledger: str) -> None:
    first = tune()
    second = api.verify("mine", "1/8", ledger=ledger).to_json()
    assert (first["verified_at_scale"], second["verified_at_scale"]) == ("1/64", "1/8")
    assert "1/8 model" in Path(second["report"]).read_text()
    assert "proven on a 1/8 model" in Path(second["options_file"]).read_text()
    with pytest.raises(UserError, match="scale: '2' is not a scale"):
        api.verify("mine", "2", ledger=ledger)


def test_an_options_file_becomes_the_baseline(tune: Tune) -> None:
    outcome = tune(options_file="OPTIONS-1")
    with_cache = outcome["baseline"]["options"]
    assert with_cache["db"] == OWN["db"]
    assert with_cache["cf"] == OWN["cf"]
    # The file names no cache: it gets what the search's 1000 MiB leave beside two write buffers.
    assert with_cache["table"] == {"block_cache": str((1000 - 2 * 40) << 20)}
    assert outcome["baseline"]["memory"]["total_bytes"] == outcome["best"]["memory"]["total_bytes"]
    assert "the OPTIONS file has none" in outcome["own_options_notes"][1]
    assert [entry["name"] for entry in outcome["options_account"]["entries"]] == [
        "max_background_jobs",
        "write_buffer_size",
    ]
    assert outcome["best"]["options"]["db"]["max_background_jobs"] == "3"


def test_when_everything_fails_there_is_a_report_and_no_options_file(tune: Tune, engines: Engines) -> None:
    engines.fault = lambda *_: Status.CRASHED
    outcome = tune()
    assert outcome["recommended"] == "baseline"
    assert Path(outcome["report"]).is_file()


def test_a_directory_that_cannot_be_written_is_found_before_measuring(
    tune: Tune, engines: Engines, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"output directory .*file/out: cannot be written"):
        tune(out=tmp_path / "file" / "out")
    assert engines.opened[0].opened == []


def test_a_warm_start_without_an_earlier_study_says_so(tune: Tune, ledger: str) -> None:
    def notes(**given: Any) -> str:
        wanted: dict[str, Any] = {"workload": "dremel-write-heavy", "tuner": "random", "scale": "1/64"}
        wanted |= {"budget": "40s", "ledger": ledger, "study": "warm", "warm_start": True}
        return " ".join(api.estimate(**wanted | given)["own_options_notes"])

    said = "Warm start: no earlier study of the ledger is similar enough, or the budget too small."
    assert said in notes()
    assert said not in notes(warm_start=None)
    tune()
    assert "Tried: study 'mine'" in notes(protocol="steady")
    assert said not in notes()


def test_files_that_are_not_the_studys_own_are_not_replaced(
    tune: Tune, engines: Engines, tmp_path: Path
) -> None:
    for name in ("OPTIONS", "report.html"):
        (tmp_path / "here").mkdir(exist_ok=True)
        (tmp_path / "here" / name).write_text("mine")
        with pytest.raises(UserError, match=f"here: rocktune did not write its file {name} and does not"):
            tune(out="here")
        assert (tmp_path / "here" / name).read_text() == "mine"
        (tmp_path / "here" / name).unlink()
    tune(out="here")
    with pytest.raises(UserError, match="here: it is that of study 'mine', whose files would be replaced"):
        tune(out="here", study="other")
    assert [len(engine.opened) > 0 for engine in engines.opened] == [False, False, True, False]


def test_the_users_own_file_is_not_replaced_by_the_result(tune: Tune, tmp_path: Path) -> None:
    exported = Path(tune(out="first")["options_file"]).rename(tmp_path / "OPTIONS")
    before = exported.read_text()
    own: dict[str, Any] = {"options_file": "OPTIONS"}
    for study, given in (("again", own), ("once-more", {"tried": ["OPTIONS"]})):
        with pytest.raises(UserError, match="its file OPTIONS is read by the study, which would replace it"):
            tune(out=".", study=study, **given)
    assert exported.read_text() == before


def test_bad_input_writes_nothing(tune: Tune, tmp_path: Path) -> None:
    for wrong in ({"device": "x"}, {"tuner": "x"}, {"budget": "1ms"}, {"study": "a/b"}):
        with pytest.raises(UserError):
            tune(**wrong)
    assert list(tmp_path.iterdir()) == []


def test_estimating_measures_and_writes_nothing(engines: Engines, tmp_path: Path, ledger: str) -> None:
    expected = api.estimate(workload="ycsb-a", device="nvme", scale="1/128", ledger=ledger)
    assert expected["study"].startswith("ycsb-a-nvme-")
    assert expected["scale"] == "1/128"
    assert expected["total_s"] > expected["search_s"] == 7200 / 128
    assert (engines.opened, list(tmp_path.iterdir())) == ([], [])


class RemovesOutput(Observer):
    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def trial_finished(self, result: Result) -> None:
        shutil.rmtree(self._directory, ignore_errors=True)


def test_an_output_directory_that_goes_meanwhile_is_made_again(
    tune: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    outcome = tune(out=str(tmp_path / "out"), observer=RemovesOutput(tmp_path / "out"))
    assert Path(outcome["options_file"]).exists()
    assert Path(outcome["report"]).exists()
