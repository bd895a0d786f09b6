import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rocktune import api
from rocktune.api import comparing, machine, options, requests, running, sweeping, tuning
from rocktune.cli.main import main
from rocktune.engine import CommandSpec, DbBenchSpec, EngineSpec, OptionsFile
from rocktune.errors import UserError
from rocktune.ledger import Ledger, open_ledger
from rocktune.study import Observer
from rocktune.study.specs.resolving import HowToSweep
from rocktune.testing.dying import Died, DiesAfter
from rocktune.testing.synthetic_engine import Fault, SyntheticEngine, no_fault
from rocktune.trial import Configuration, Result, Status

OWN = {"db": {"max_background_jobs": "3"}, "cf": {"write_buffer_size": str(40 << 20)}, "table": {}}
OWN_FILE = OptionsFile("7.8.3", {"default": OWN}, ())


def _response(configuration: Configuration) -> float:
    return 20_000 + float(configuration.get("write_buffer_size", 0)) / (1 << 14)


class Engines:
    """Makes the engines that the API opens."""

    def __init__(self) -> None:
        self.fault: Fault = no_fault
        self.opened: list[SyntheticEngine] = []
        self.specs: list[EngineSpec] = []

    @contextmanager
    def __call__(self, spec: EngineSpec, figures: Sequence[str] = ()) -> Iterator[SyntheticEngine]:
        engine = SyntheticEngine(_response, self.fault, own_noise=0.002)
        engine.version = "RocksDB 7.8.3, assertions on"
        self.opened.append(engine)
        self.specs.append(spec)
        yield engine
        assert not engine.open_runs


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Engines:
    engines = Engines()
    for module in (tuning, sweeping, running):
        monkeypatch.setattr(module, "opened_engine", engines)
    for module in (requests, running):
        monkeypatch.setattr(
            module,
            "own_options_file",
            lambda path, leave_out_foreign=False: OWN_FILE if path else None,
        )
    monkeypatch.chdir(tmp_path)
    return engines


@pytest.fixture
def ledger(tmp_path: Path) -> str:
    return str(tmp_path / "ledger.sqlite")


SMALL = {"finalists": 2, "pick_runs": 1, "ablation_pairs": 2, "prune_attempts": 1}


@pytest.fixture
def tune(engines: Engines, ledger: str) -> Callable[..., dict[str, Any]]:
    def tune(**given: Any) -> dict[str, Any]:
        settings = {"workload": "dremel-write-heavy", "tuner": "random", "scale": "1/64", "budget": "4s"}
        settings |= {"ledger": ledger, "study": "mine", "verification": SMALL} | given
        return api.tune(**settings).to_json()  # type: ignore[arg-type]

    return tune


Tune = Callable[..., dict[str, Any]]

# Tuning


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
        with pytest.raises(UserError, match="'mine' is not finished; 'rocktune resume mine' goes on"):
            not_yet()
    outcome = api.resume("mine", ledger=ledger)
    assert isinstance(outcome, api.Outcome)
    assert outcome.options_file == str(tmp_path / "out" / "OPTIONS")
    with open_ledger(ledger) as opened:
        trials = opened.trials(opened.study("mine"))
    # The baseline's four ages were one run, which the death in between made two.
    runs = len([record for record in trials if record.phase != "baseline"]) + 2
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
    with pytest.raises(UserError, match="scale: '2' is not one"):
        api.verify("mine", "2", ledger=ledger)


def test_an_options_file_becomes_the_baseline(tune: Tune) -> None:
    outcome = tune(options_file="OPTIONS-1")
    with_cache = outcome["baseline"]["options"]
    assert with_cache["db"] == OWN["db"]
    assert with_cache["cf"] == OWN["cf"]
    # The file names no cache: it gets what the search's 1000 MiB leave beside two write buffers.
    assert with_cache["table"] == {"block_cache": str((1000 - 2 * 40) << 20)}
    assert outcome["baseline"]["memory"]["total_bytes"] == outcome["best"]["memory"]["total_bytes"]
    assert "the OPTIONS file has none" in outcome["own_options_notes"][0]
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


def test_bad_input_writes_nothing(tune: Tune, tmp_path: Path) -> None:
    for wrong in ({"device": "x"}, {"tuner": "x"}, {"budget": "1ms"}, {"study": "a/b"}):
        with pytest.raises(UserError):
            tune(**wrong)
    assert list(tmp_path.iterdir()) == []


def test_estimating_measures_and_writes_nothing(engines: Engines, tmp_path: Path, ledger: str) -> None:
    expected = api.estimate(workload="ycsb-a", device="nvme", scale="1/128", ledger=ledger)
    assert expected["study"].startswith("ycsb-a-nvme-")
    assert expected["scale"] == "1/128"
    assert expected["total_s"] > expected["search_s"] == 2325 / 128
    assert (engines.opened, list(tmp_path.iterdir())) == ([], [])


# Studies


def test_studies_are_listed_shown_and_deleted(tune: Tune, ledger: str) -> None:
    outcome = tune()
    (listed,) = api.studies(ledger=ledger)
    assert (listed["study"], listed["state"], listed["scale"]) == ("mine", "finished", "1/64")
    assert listed["ratio_to_baseline"] == outcome["ratio_to_baseline"]["value"]
    shown = api.show("mine", ledger=ledger)
    assert shown["trials"] == outcome["trials"]
    assert shown["is_running"] is False
    with open_ledger(ledger) as opened, opened.lock(opened.study("mine")):
        assert api.show("mine", ledger=ledger)["is_running"] is True
    api.delete("mine", ledger=ledger)
    assert api.studies(ledger=ledger) == []


def test_exporting_and_reporting(tune: Tune, ledger: str) -> None:
    outcome = tune()
    assert api.export("mine", "options-file", ledger=ledger) == Path(outcome["options_file"]).read_text()
    with pytest.raises(UserError, match="did you mean 'options-file'"):
        api.export("mine", "option-file", ledger=ledger)
    report = Path(outcome["report"])
    report.unlink()
    assert api.report("mine", ledger=ledger) == report
    assert report.is_file()


# Single runs


def test_running_measures_the_default_afresh_each_time(engines: Engines, tmp_path: Path) -> None:
    measured = api.run(workload="dremel-write-heavy", scale="1/64", repeat=3)
    (engine,) = engines.opened
    assert len(engine.opened) == len({seed for _, seed in engine.opened}) == 3
    assert engine.advanced_s == pytest.approx(3 * 120 / 64)
    assert [run["status"] for run in measured["runs"]] == ["ok"] * 3
    assert measured["runs"][0]["figures"]["throughput_ops_s"] > 0
    assert measured["configuration"]["write_buffer_size"] == 64 << 20
    assert list(tmp_path.iterdir()) == []
    again = api.run(workload="dremel-write-heavy", scale="1/64", repeat=3)
    assert json.dumps(again) == json.dumps(measured)


def test_single_options_are_knobs_or_catalogued(engines: Engines) -> None:
    options = {"write_buffer_size": "48MiB", "max_subcompactions": "2"}
    measured = api.run(workload="ycsb-a", seconds="2s", options=options)
    assert measured["configuration"]["write_buffer_size"] == 48 << 20
    assert measured["options"]["db"]["max_subcompactions"] == "2"
    over_file = api.run(workload="ycsb-a", seconds=2, options=options, options_file="OPTIONS")
    assert over_file["configuration"] == {}
    assert over_file["options"]["db"] == {"max_background_jobs": "3", "max_subcompactions": "2"}
    assert over_file["options"]["cf"] == {"write_buffer_size": str(48 << 20)}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"workload": None}, "workload: missing"),
        ({"scale": "64"}, "scale: '64' is not one"),
        ({"seconds": "0"}, "seconds: '0' is not a duration"),
        ({"repeat": 0}, "repeat: 0 is not above 0"),
        ({"seed": -1}, "seed"),
        ({"engine": "dbbench"}, "unknown engine 'dbbench': did you mean 'db_bench'"),
        ({"engine": "command"}, "command: missing"),
        ({"engine": "db_bench", "workload": "ycsb-e"}, "db_bench"),
        ({"options": {"write_buffer_size": "1TiB"}}, "write_buffer_size: 1TiB is outside 32MiB to 80MiB"),
        ({"options": {"write_buffer_size": "0x10"}}, "write_buffer_size: '0x10' is not a size"),
        ({"options": {"block_cache": "8MiB"}}, "block_cache: follows from the memory budget"),
        ({"options": {"min_write_buffer_number_to_merge": "4", "max_write_buffer_number": "4"}}, "4"),
    ],
)
def test_a_bad_run_is_one_line(engines: Engines, given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        api.run(**{"workload": "ycsb-a", **given})
    assert "\n" not in str(error.value)
    assert engines.opened == []


def test_an_unknown_option_suggests_the_nearest(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "_all_sections", lambda: {"ttl": "cf", "paranoid_checks": "db"})
    with pytest.raises(
        UserError, match="unknown option 'write_bufer_size': did you mean 'write_buffer_size'"
    ):
        api.run(workload="ycsb-a", options={"write_bufer_size": "1"})
    measured = api.run(workload="ycsb-a", seconds=1, options={"ttl": "9"})
    assert measured["options"]["cf"]["ttl"] == "9"


def test_a_failed_run_is_a_status(engines: Engines) -> None:
    engines.fault = lambda _configuration, _seed, until_s: Status.OUT_OF_DISK if until_s > 0 else None
    (failed,) = api.run(workload="ycsb-a", seconds=1)["runs"]
    message = "made to fail as out_of_disk"
    assert failed == {"status": "out_of_disk", "message": message, "figures": {}, "output": ""}


def test_a_run_takes_engine_and_file_as_a_study_does(engines: Engines, tmp_path: Path) -> None:
    program = Path("/opt/db_bench")
    measured = api.run(workload="fillrandom", engine="db_bench", db_bench=program, scale="1/32")
    assert engines.specs.pop() == DbBenchSpec(program="/opt/db_bench")
    assert measured["seconds"] == 6.0  # 120 s over 32, such that 20 s over it is a whole second
    study = tmp_path / "study.toml"
    study.write_text(
        'workload = "ycsb-a"\nengine = "command"\n[command]\nrun = ["./bench", "{options_file}"]\n'
        "run_seconds = 7.5\n"
    )
    measured = api.run(study, seed=5)
    assert engines.specs.pop() == CommandSpec(
        run=(str(tmp_path / "bench"), "{options_file}"), run_seconds=7.5
    )
    assert (measured["scale"], measured["seconds"], measured["seed"]) == ("1", 7.5, 5)


# The machine


def test_everything_that_can_be_named_is_listed() -> None:
    assert "dremel-write-heavy" in api.list_workloads()
    assert "ssd-100mb" in api.list_devices()
    assert "dremel" in api.list_spaces()
    assert "random" in api.list_tuners()


def test_the_doctor_says_what_is_wrong_and_how_to_mend_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "file").write_text("mine")
    monkeypatch.setenv("ROCKTUNE_WORKER", str(tmp_path / "nowhere"))
    monkeypatch.setenv("ROCKTUNE_DATA", str(tmp_path / "foreign"))
    monkeypatch.setattr(machine, "open_ledger", lambda: open_ledger(str(tmp_path / "ledger.sqlite")))
    found = {check["check"]: check for check in api.doctor()}
    assert found["rocksdb"]["ok"] is False
    assert "ROCKTUNE_WORKER" in found["rocksdb"]["detail"]
    assert found["data directory"]["ok"] is False
    assert "name an empty or new directory" in found["data directory"]["detail"]
    assert found["ledger"]["ok"] is True
    assert "cores" in found["cores"]["detail"]


def test_cleaning_touches_only_what_is_rocktunes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    data = tmp_path / "data"
    monkeypatch.setenv("ROCKTUNE_DATA", str(data))
    assert api.clean() == {"data_directory": str(data), "removed_bytes": 0}
    assert not data.exists()
    data.mkdir()
    (data / "precious").write_text("mine")
    with pytest.raises(UserError, match="files that are not rocktune's"):
        api.clean()
    assert (data / "precious").read_text() == "mine"
    (data / "precious").rename(tmp_path / "precious")
    api.clean()
    base = data / "bases" / "0123"
    base.mkdir(parents=True)
    (base / "000001.sst").write_bytes(bytes(1000))
    abandoned = data / "runs" / "1-x" / "0"
    abandoned.mkdir(parents=True)
    (abandoned / "000002.sst").write_bytes(bytes(500))
    assert api.clean()["removed_bytes"] == 1500
    assert not base.exists()
    assert not abandoned.exists()


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
    assert document == {"study": "s", "state": "finished"} | written | {"table": document["table"]}
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "s" / "table.csv").read_text()
    both = api.write_recorded(["s", str(tmp_path / "again.csv")], tmp_path / "both.csv", ledger=ledger)
    assert both["runs"] == 12
    assert api.show("s", ledger=ledger)["state"] == "finished"


def test_a_sweep_is_no_study(engines: Engines, ledger: str) -> None:
    api.sweep(how=HowToSweep(1), workload="zipfian", ledger=ledger, study="s")
    for ask in (api.report, lambda name, ledger: api.export(name, "options-file", ledger=ledger)):
        with pytest.raises(UserError, match="study 's': a sweep has no configuration"):
            ask("s", ledger=ledger)
    with pytest.raises(UserError, match="study 's': a sweep has no winner to verify"):
        api.verify("s", "1/4", ledger=ledger)


def test_a_study_too_has_a_table(tune: Tune, engines: Engines, ledger: str, tmp_path: Path) -> None:
    tune(study="t")
    document = api.write_recorded(["t"], tmp_path / "t.csv", ledger=ledger)
    assert document["noise"]["throughput_ops_s"] > 0


# Executors


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
    assert [note for note in notes.notes if "want 36 cores, and there are 3" in note]


@pytest.mark.parametrize(
    ("executor", "address", "said"),
    [
        ("local:0", None, "executor: 'local:0' is none; write local:N"),
        ("loca:2", None, "executor: 'loca:2' is none"),
        ("ray:2", None, "executor: 'ray:2' is none"),
        (None, "h:1", "address: is a Ray cluster's, and goes with '--executor ray'"),
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


# Reading a request once


def counting(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[Any]:
    """Counts the calls of a function."""
    calls, function = [], getattr(owner, name)

    def counted(*given: Any, **named: Any) -> Any:
        calls.append(given)
        return function(*given, **named)

    monkeypatch.setattr(owner, name, counted)
    return calls


def test_tuning_resolves_and_creates_the_study_once(
    engines: Engines, ledger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = counting(monkeypatch, requests, "own_options_file")
    creations = counting(monkeypatch, Ledger, "create_study")
    line = "tune --workload dremel-write-heavy --tuner random --scale 1/64 --budget 4s --options-file OPTIONS"
    assert main([*line.split(), "--ledger", ledger]) == 0
    assert (len(reads), len(creations)) == (1, 1)


def test_sweeping_resolves_once(engines: Engines, ledger: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = counting(monkeypatch, requests, "own_options_file")
    line = "sweep --workload dremel-write-heavy --scale 1/64 --samples 2 --options-file OPTIONS"
    assert main([*line.split(), "--ledger", ledger]) == 0
    assert len(reads) == 1


def test_comparing_resolves_once(engines: Engines, ledger: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = counting(monkeypatch, comparing, "resolved_study")
    monkeypatch.setattr(comparing, "opened_engine", engines)
    line = "compare --tuners random --settings ycsb-a --scale 1/64 --budget 4s --seeds 1"
    assert main([*line.split(), "--ledger", ledger]) == 0
    assert len(reads) == 1
