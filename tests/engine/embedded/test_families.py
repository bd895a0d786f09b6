"""Stores of several column families: their options, data and figures, on the real worker."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedEngine, RunFailed
from rocktune.engine.embedded.engine import memory_limit
from rocktune.space import FamilyEntries, OptionMaps, space_document, space_from_document
from rocktune.trial import Configuration, Experiment
from rocktune.units import MIB
from rocktune.workload import WorkloadSpec

FAMILIES = (FamilyEntries("users", 5000.0), FamilyEntries("events", 5000.0))


@pytest.fixture
def engine(tmp_path: Path, real_worker: tuple[str, ...]) -> Iterator[EmbeddedEngine]:
    with closing(EmbeddedEngine(tmp_path / "data", 0, 0, real_worker)) as opened:
        yield opened


def workload() -> WorkloadSpec:
    """Lookups in one family, inserts into another, and a third one without load."""
    return WorkloadSpec.model_validate(
        {
            "name": "three",
            "threads": 2,
            "value": {"low": 200},
            "families": [
                {"name": "users", "keys": 5000, "share": 0.5, "mix": {"get": 1.0}, "preload": {"keys": 5000}},
                {"name": "events", "keys": 5000, "share": 0.5, "mix": {"insert": 1.0}},
                {"name": "idle", "keys": 10, "share": 0.0, "mix": {"get": 1.0}},
            ],
            "sessions": [{}],
        }
    )


def experiment(family: str | None = None, base: OptionMaps | None = None) -> Experiment:
    entries = () if family else (*FAMILIES, FamilyEntries("idle", 1.0))
    space = space_from_document(space_document("dremel"), 3000 * MIB, 5000.0, base, entries)
    device = DeviceSpec(name="fast", bandwidth_bytes_s=100_000_000)
    return Experiment(workload(), device, 16, space, base or {}, family)


def test_each_family_has_its_own_knobs_data_and_figures(engine: EmbeddedEngine) -> None:
    together = experiment()
    configuration = together.space.default().replaced({"events.write_buffer_size": 32 * MIB})
    with closing(engine.open(together, configuration, seed=1)) as run:
        assert run.options["cf:users"]["write_buffer_size"] == str(64 * MIB // 16)
        assert run.options["cf:events"]["write_buffer_size"] == str(2 * MIB)
        first = run.advance(0.3)
        merged = first.merged(run.advance(0.5))
    parts = merged.families
    assert set(parts) == {"users", "events", "idle"}
    assert parts["users"].operations(["get"]) == merged.operations(["get"]) > 0
    assert parts["events"].operations(["insert"]) == merged.operations(["insert"]) > 0
    assert parts["idle"].operations() == 0
    # It was preloaded. A thread may be between the count of a found key and that of its lookup.
    found, lookups = parts["users"].raw["operations"]["get"]["found"], parts["users"].operations()
    assert lookups <= found <= lookups + together.workload.threads
    assert parts["users"].figures["read_latency_us_p99"] == merged.figures["read_latency_us_p99"]
    assert parts["users"].raw["live_keys"] == 5000 // 16
    assert parts["users"].seconds == 0.5


def test_one_tuned_family_leaves_the_others_as_the_file_says(engine: EmbeddedEngine) -> None:
    base: OptionMaps = {
        "db": {"max_background_jobs": "3"},
        "cf": {"compression": "kNoCompression"},
        "table": {"block_cache": str(64 * MIB)},
        "cf:users": {"write_buffer_size": str(16 * MIB), "num_levels": "4"},
        "table:users": {"block_size": "16384"},
        "cf:elsewhere": {"merge_operator": "acme.Merge"},  # of the file, and not loaded
    }
    tuned = experiment("events", base)
    configuration = tuned.space.default().replaced({"write_buffer_size": 32 * MIB})
    with closing(engine.open(tuned, configuration, seed=1)) as run:
        options = run.options
        assert run.advance(0.3).families["events"].operations() > 0
    assert options["cf:events"]["write_buffer_size"] == str(2 * MIB)
    assert options["cf:events"]["compression"] == "kNoCompression"
    assert options["cf:users"]["write_buffer_size"] == str(MIB)
    assert options["cf:users"]["num_levels"] == "4"
    assert options["table:users"]["block_size"] == "16384"
    # What the file does not say of a family, the space's default does.
    assert options["cf:idle"]["write_buffer_size"] == str(64 * MIB // 16)
    assert not any("elsewhere" in section for section in options)


def test_a_family_with_its_own_cache_keeps_it(engine: EmbeddedEngine) -> None:
    own: OptionMaps = {
        "db": {},
        "cf": {},
        "table": {"block_cache": str(64 * MIB)},
        "cf:users": {},
        "table:users": {"block_cache": str(32 * MIB)},
    }
    with closing(engine.open(experiment("events", own), Configuration({}), seed=1)) as run:
        assert run.options["table:users"]["block_cache"] == str(2 * MIB)
        assert run.options["table:events"]["block_cache"] == str(4 * MIB)
    del own["table:users"]["block_cache"]
    with closing(engine.open(experiment("events", own), Configuration({}), seed=1)) as run:
        # The worker reports the shared cache for each family.
        assert run.options["table:users"]["block_cache"] == str(4 * MIB)
        assert run.advance(0.2).figures["block_cache_bytes"] <= 4 * MIB


def test_a_base_is_that_of_its_families(engine: EmbeddedEngine) -> None:
    together = experiment()
    for block_bytes in (4096, 16384):
        configuration = together.space.default().replaced({"users.block_size": block_bytes})
        with closing(engine.open(together, configuration, seed=1)) as run:
            assert run.options["table:users"]["block_size"] == str(block_bytes)
    assert engine.loading_s > 0
    before = engine.loading_s
    engine.open(together, together.space.default(), seed=2).close()
    assert engine.loading_s == before


def test_memory_of_other_families_is_allowed_for() -> None:
    base: OptionMaps = {
        "cf:users": {"write_buffer_size": str(256 * MIB), "max_write_buffer_number": "4"},
        "table:users": {"block_cache": str(512 * MIB)},
    }
    tuned = experiment("events", base)
    plain = memory_limit(replace(tuned, base_options={}))
    assert memory_limit(tuned, base) - plain == 2 * (1024 + 512) * MIB // 16


def test_a_store_that_rocksdb_refuses_is_invalid(engine: EmbeddedEngine) -> None:
    with pytest.raises(RunFailed) as failure:
        engine.check(experiment("events", {"cf:users": {"write_buffer_size": "-1"}}), Configuration({}))
    assert "write_buffer_size" in failure.value.message
