"""Sweeps and tables."""

from pathlib import Path
from typing import Any

import pytest
from tests.api.engines import Engines, Tune

from rocktune import api
from rocktune.errors import UserError
from rocktune.study.specs.sweeping import HowToSweep
from rocktune.testing.dying import Died, DiesAfter


def test_a_sweep_writes_a_table_that_can_be_written_again(
    engines: Engines, ledger: str, tmp_path: Path
) -> None:
    given: dict[str, Any] = {"workload": "zipfian", "ledger": ledger, "study": "s"}
    given["how"] = HowToSweep(5)
    estimate = api.estimate_sweep(**given)
    assert estimate["runs"] == 6
    assert not engines.opened
    with pytest.raises(Died):
        api.sweep(observer=DiesAfter(5), **given)
    (shown,) = api.studies(ledger=ledger)
    assert shown["tuner"] == "sweep"
    document = api.resume("s", ledger=ledger)
    assert isinstance(document, dict)
    assert document["runs"] == 6
    assert document["configurations"] == 6
    assert set(document["best"]) == set(document["noise"]) == {"throughput_ops_s", "read_latency_us_p99"}
    assert document["table"] == tmp_path / "s" / "table.csv"
    written = api.write_recorded(["s"], tmp_path / "again.csv", ledger=ledger)
    assert document.pop("own_options_notes") == []
    assert document.pop("options_account") is None
    assert document == {"study": "s", "state": "finished"} | written | {"table": document["table"]}
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "s" / "table.csv").read_text()
    both = api.write_recorded(["s", str(tmp_path / "again.csv")], tmp_path / "both.csv", ledger=ledger)
    assert both["runs"] == 12
    assert api.show("s", ledger=ledger)["state"] == "finished"


def test_a_sweep_is_no_study(engines: Engines, ledger: str) -> None:
    api.sweep(how=HowToSweep(1), workload="zipfian", ledger=ledger, study="s")
    with pytest.raises(UserError, match="study 's': a sweep has no configuration to export"):
        api.export("s", "options-file", ledger=ledger)
    with pytest.raises(UserError, match="study 's': a sweep has no report; 'rocktune resume' writes"):
        api.report("s", ledger=ledger)
    with pytest.raises(UserError, match="study 's': a sweep has no winner to verify"):
        api.verify("s", "1/4", ledger=ledger)


def test_a_study_too_has_a_table(tune: Tune, engines: Engines, ledger: str, tmp_path: Path) -> None:
    tune(study="t")
    document = api.write_recorded(["t"], tmp_path / "t.csv", ledger=ledger)
    assert document["noise"]["throughput_ops_s"] > 0
