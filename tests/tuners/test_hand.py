import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rocktune.space import (
    CATALOGUE,
    FamilyEntries,
    Space,
    load_space,
    space_document,
    space_from_document,
)
from rocktune.testing.tuners import drive, failing_response, synthetic_problem, synthetic_response
from rocktune.trial import Configuration, Result, Status, Trial
from rocktune.tuners import Problem, tuner_named
from rocktune.tuners.hand import argument_bytes, hand_set, presets
from rocktune.units import MIB

FULL = load_space("full", None, 1e7)
PRINTS_OPTIONS = """
#include <rocksdb/convenience.h>
#include <iostream>
int main() {
  for (int which = 0; which < 3; which++) {
    rocksdb::ColumnFamilyOptions options;
    if (which == 1) options.OptimizeLevelStyleCompaction(400 << 20);
    if (which == 2) options.OptimizeUniversalStyleCompaction(400 << 20);
    rocksdb::ConfigOptions config;
    config.delimiter = "\\n";
    std::string text;
    if (!rocksdb::GetStringFromColumnFamilyOptions(config, options, &text).ok()) return 1;
    std::cout << text << std::flush << "----\\n";
  }
}
"""


def changes(configuration: Configuration | None, space: Space = FULL) -> dict[str, object]:
    assert configuration is not None
    default = space.default()
    return {name: value for name, value in configuration.items() if default.get(name) != value}


def by_name(space: Space) -> dict[str, Configuration | None]:
    return {each.name: each.configuration for each in hand_set(space)}


def problem(space: Space = FULL, trials: int = 6) -> Problem:
    return replace(synthetic_problem(scale=1, budget_s=trials * 120.0), space=space, baseline=space.default())


def asked(space: Space = FULL, trials: int = 6) -> list[tuple[Trial, ...]]:
    search = tuner_named("hand").search(problem(space, trials), np.random.default_rng(1))
    return [batch.trials for batch in drive(search).batches]


def test_full_holds_the_guide_and_five_more() -> None:
    found = by_name(FULL)
    assert list(found) == [
        "guide",
        "universal-4",
        "universal-8",
        "universal-12",
        "OptimizeLevelStyleCompaction",
        "OptimizeUniversalStyleCompaction",
    ]
    assert found["guide"] == FULL.default()
    assert len(set(found.values())) == 6
    for configuration in found.values():
        assert configuration is not None
        FULL.validate(configuration)


@pytest.mark.parametrize(("runs", "slowdown", "stop"), [(4, 8, 16), (8, 12, 20), (12, 16, 24)])
def test_universal_compaction_keeps_the_guides_distances(runs: int, slowdown: int, stop: int) -> None:
    configuration = by_name(FULL)[f"universal-{runs}"]
    assert configuration is not None
    triggers = [configuration[f"level0_{name}"] for name in ("file_num_compaction_trigger",)]
    triggers += [configuration[f"level0_{name}_writes_trigger"] for name in ("slowdown", "stop")]
    assert triggers == [runs, slowdown, stop]
    assert configuration["compaction_style"] == "kCompactionStyleUniversal"
    # All else is as in the guide: memory too.
    assert {name for name in changes(configuration) if not name.startswith(("level0", "universal"))} == {
        "compaction_style"
    }


def test_the_argument_fills_the_memory_or_is_rocksdbs_default() -> None:
    # 1000 MiB less 384 MiB of cache less 12.5 MB of filters, in six memtables of whole MiB.
    assert argument_bytes(FULL) == 4 * 100 * MIB
    assert argument_bytes(load_space("full", 8000 * MIB, 1e7)) == 512 * MIB
    level = by_name(FULL)["OptimizeLevelStyleCompaction"]
    assert changes(level) == {
        "write_buffer_size": 100 * MIB,
        "level0_file_num_compaction_trigger": 2,
        "target_file_size_base": 50 * MIB,
        "max_bytes_for_level_base": 400 * MIB,
        "lz4_per_level": "kNoCompression:kLZ4Compression",
    }


@pytest.mark.skipif(
    shutil.which("g++") is None or not Path("/usr/include/rocksdb/options.h").exists(),
    reason="g++ or RocksDB's headers are not installed (g++ librocksdb-dev)",
)
def test_the_presets_are_what_rocksdb_sets(tmp_path: Path) -> None:
    (tmp_path / "print.cc").write_text(PRINTS_OPTIONS)
    compiling = ["g++", "-std=c++17", "-O0", "print.cc", "-o", "print", "-lrocksdb"]
    subprocess.run(compiling, cwd=tmp_path, check=True)
    printed = subprocess.run([str(tmp_path / "print")], check=True, capture_output=True, text=True).stdout
    default, leveled, universal = (
        dict(line.split("=", 1) for line in part.strip().splitlines()) for part in printed.split("----")[:3]
    )
    size_percent = "compression_size_percent"
    for preset, made in zip(presets(400 * MIB)[3:], (leveled, universal), strict=True):
        plain = {
            name: value for name, value in preset.values.items() if not name.startswith(("compr", "lz4"))
        }
        assert {name: CATALOGUE[name].value_in(made[name]) for name in plain} == plain
        changed = {name for name, text in made.items() if default.get(name) != text}
        others = changed - set(plain)
        if preset.values["compaction_style"] == "kCompactionStyleLevel":
            assert others == {"compression_per_level"}
            per_level = made["compression_per_level"].split(":")
            assert per_level == [*2 * ["kNoCompression"], *5 * [preset.values["compression"]]]
            assert preset.values["lz4_per_level"] == ":".join(per_level[1:3])
            assert preset.absent == (f"compression_per_level[1]={per_level[1]}",)
        else:
            assert others == {"compaction_options_universal"}
            fields = [_fields(options["compaction_options_universal"]) for options in (default, made)]
            assert fields[1] - fields[0] == {(size_percent, "80")}
            assert preset.absent == (f"compaction_options_universal.{size_percent}=80",)


def _fields(text: str) -> set[tuple[str, ...]]:
    """Returns the fields of a struct as RocksDB writes it."""
    return {tuple(part.split("=")) for part in text.strip("{}").split(";") if part}


def test_a_leveled_space_holds_only_what_is_leveled_and_says_what_differs() -> None:
    space = load_space("dremel", None, 1e7)
    search = tuner_named("hand").search(problem(space), np.random.default_rng(1))
    (batch, *_) = drive(search).batches
    assert len(batch.trials) == 2
    assert set(batch.explanation["left_out"]) == {
        "universal-4",
        "universal-8",
        "universal-12",
        "OptimizeUniversalStyleCompaction",
    }
    differences = batch.explanation["hand_set"]["OptimizeLevelStyleCompaction"]
    assert "write_buffer_size: 80MiB instead of 100MiB" in differences
    assert any(each.startswith("compression: kSnappyCompression instead of") for each in differences)


def test_column_families_share_the_memory() -> None:
    families = (FamilyEntries("users", 4e6), FamilyEntries("events", 1e6))
    space = space_from_document(space_document("full"), 2000 * MIB, 0.0, families=families)
    found = by_name(space)
    assert argument_bytes(space) == 4 * 102 * MIB
    for name, configuration in found.items():
        assert configuration is not None, name
        space.validate(configuration)
    universal = found["OptimizeUniversalStyleCompaction"]
    assert universal is not None
    for family in ("users", "events"):
        assert universal[f"{family}.compaction_style"] == "kCompactionStyleUniversal"
        assert universal[f"{family}.write_buffer_size"] == 102 * MIB


def test_little_memory_shrinks_the_presets_as_it_does_the_guide() -> None:
    space = load_space("full", 300 * MIB, 1e7)
    level = by_name(space)["OptimizeLevelStyleCompaction"]
    assert level is not None
    space.validate(level)
    assert level["write_buffer_size"] == 28 * MIB


def test_the_foremost_half_runs_again_and_the_rest_of_the_budget_is_left() -> None:
    assert [len(trials) for trials in asked(trials=6)] == [6]
    assert [len(trials) for trials in asked(trials=8)] == [6, 2]
    first, again = asked(trials=50)
    assert len(again) == 3
    results = [synthetic_response(trial) for trial in first]
    ranks = problem().objective.ranks(results)
    foremost = [
        trial.configuration for _, trial in sorted(zip(ranks, first, strict=True), key=lambda x: x[0])
    ]
    assert [trial.configuration for trial in again] == foremost[:3]
    # Neither the replicate of the first runs nor the baseline's.
    assert {trial.replicate for trial in again} == {2}


def test_what_failed_does_not_run_again() -> None:
    def only_leveled(trial: Trial) -> Result:
        leveled = trial.configuration["compaction_style"] == "kCompactionStyleLevel"
        return synthetic_response(trial) if leveled else Result(trial, Status.CRASHED, None, "made up")

    search = tuner_named("hand").search(problem(trials=20), np.random.default_rng(1))
    batches = drive(search, only_leveled).batches
    assert [trial.configuration["compaction_style"] for trial in batches[1].trials] == [
        "kCompactionStyleLevel"
    ]
    nothing = tuner_named("hand").search(problem(trials=20), np.random.default_rng(1))
    assert len(drive(nothing, failing_response([Status.INVALID])).batches) == 1


def test_the_budget_is_that_of_one_run_each() -> None:
    assert tuner_named("hand").min_budget_s(problem()) == 6 * 120.0
    assert tuner_named("hand").min_budget_s(problem(load_space("dremel", None, 1e7))) == 2 * 120.0
