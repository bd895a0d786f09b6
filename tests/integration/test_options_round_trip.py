"""What rocktune proves, exports and reads back is one configuration, its block cache included."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from rocktune.api.engines import own_options_file
from rocktune.engine import DbBenchEngine, EmbeddedEngine, Engine
from rocktune.engine.db_bench.program import used_options
from rocktune.engine.worker import WORKER_VARIABLE
from rocktune.export.db_bench import db_bench_script
from rocktune.space import options_file_text, space_document, space_from_document
from rocktune.study.specs.own_options import AskedMemory, own_baseline
from rocktune.testing.engines import small_experiment
from rocktune.trial import Configuration, Experiment, OptionMaps
from rocktune.units import MIB
from rocktune.workload import WorkloadSpec

DREMEL = space_document("dremel")
ENTRIES = 64_000.0
SCALES = (1, 32, 256)
WITH_SETTINGS = {"table": {"block_cache": f"capacity={700 * MIB};num_shard_bits=2", "block_size": "8192"}}
MakeEngine = Callable[[], Engine]


@pytest.fixture(params=["embedded", "db_bench"])
def engine(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    real_worker: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Engine]:
    monkeypatch.setenv(WORKER_VARIABLE, real_worker[0])
    if request.param == "db_bench":
        if shutil.which("db_bench") is None:
            pytest.skip("db_bench is not here (Debian has it in rocksdb-tools)")
        opened: Engine = DbBenchEngine("db_bench", tmp_path / "data", 0, 0)
    else:
        opened = EmbeddedEngine(tmp_path / "data", 0, 0, real_worker)
    yield opened
    opened.close()


def experiment(
    scale: int, base_options: OptionMaps | None = None, memory_bytes: int = 1000 * MIB
) -> Experiment:
    """An experiment over the user's own options, if there are some; db_bench knows its workload."""
    mix = {"get": 0.5, "put": 0.5}
    workload = WorkloadSpec.model_validate(
        {"name": "small", "keys": 64_000, "threads": 2, "sessions": [{"mix": mix}]}
    )
    return replace(
        small_experiment(),
        workload=workload,
        scale=scale,
        space=space_from_document(DREMEL, memory_bytes, ENTRIES, base_options),
        base_options=base_options or {},
    )


def opened_with(engine: Engine, of: Experiment, configuration: Configuration) -> OptionMaps:
    with closing(engine.open(of, configuration, seed=1)) as run:
        return run.options


def winner(of: Experiment) -> Configuration:
    """A configuration that differs from the default in what shares the memory out."""
    changes = {"write_buffer_size": 96 * MIB, "max_write_buffer_number": 3, "bloom_bits": 7}
    known = of.space.default()
    return known.replaced({name: value for name, value in changes.items() if name in known})


def full_size(of: Experiment, configuration: Configuration) -> OptionMaps:
    return of.space.with_base_options(of.base_options).options(configuration)


@pytest.mark.parametrize("base", [None, WITH_SETTINGS], ids=["guide", "own"])
@pytest.mark.parametrize("scale", SCALES)
def test_an_exported_file_opens_the_store_that_was_proven(
    engine: Engine, scale: int, base: OptionMaps | None, tmp_path: Path
) -> None:
    proven = experiment(scale, base)
    configuration = winner(proven)
    options = full_size(proven, configuration)
    path = tmp_path / "OPTIONS"
    path.write_text(options_file_text(options, "7.8.3"))
    file = own_options_file(path)
    assert file is not None
    own = own_baseline(file, DREMEL, ENTRIES, AskedMemory())
    assert own.options["table"]["block_cache"] == options["table"]["block_cache"]
    read_back = experiment(scale, own.options, own.memory_bytes)
    used = opened_with(engine, read_back, Configuration({}))
    assert used == opened_with(engine, proven, configuration)
    assert used["table"]["block_cache"] != "8388608"
    # A study forced to its baseline: the file as it stands, and its knobs laid over it.
    same = read_back.space.configuration_from_options(own.options)
    assert opened_with(engine, read_back, same)["table"] == used["table"]
    assert opened_with(engine, read_back, same)["cf"] == used["cf"]


@pytest.mark.parametrize("base", [None, WITH_SETTINGS], ids=["guide", "own"])
def test_an_exported_db_bench_script_opens_the_store_that_was_proven(
    real_worker: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, base: OptionMaps | None
) -> None:
    if shutil.which("db_bench") is None:
        pytest.skip("db_bench is not here (Debian has it in rocksdb-tools)")
    monkeypatch.setenv(WORKER_VARIABLE, real_worker[0])
    proven = experiment(1, base)
    options = full_size(proven, winner(proven))
    script = db_bench_script(options, "7.8.3", proven.workload, 1, "# head")
    path, store = tmp_path / "bench.sh", tmp_path / "db"
    path.write_text(script.replace("--duration=120", "--duration=0 --reads=100 --writes=100"))
    done = subprocess.run(
        ["/bin/sh", str(path)],
        env={"DB": str(store), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-500:]
    with closing(DbBenchEngine("db_bench", tmp_path / "data", 0, 0)) as engine:
        used = opened_with(engine, proven, winner(proven))
    assert used_options(store) == used
