"""The tuner that measures what an expert sets by hand, fitted to the space and its memory budget."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rocktune.errors import UserError
from rocktune.space import Configuration, Space, Value, nearest_configuration
from rocktune.spec_file import Spec
from rocktune.trial import Batch, Trial
from rocktune.tuners.base import Problem, Search, Tuner
from rocktune.tuners.cost import affordable_trials
from rocktune.tuners.halving import best_first, survivors
from rocktune.units import MIB

_STYLE = "compaction_style"
_LEVELED, _UNIVERSAL = "kCompactionStyleLevel", "kCompactionStyleUniversal"
_RUN_COUNTS = (4, 8, 12)
_MAX_ARGUMENT_BYTES = 512 * MIB
"""The default argument of RocksDB's two functions."""
_BUFFERS = 6
"""The number of memtables that both functions allow, each a quarter of the argument."""
_AGAIN = 2
"""Replicate of a second run. 1 is the baseline's, which may be one of the configurations here."""


@dataclass(frozen=True)
class Preset:
    """What a person changes of a space's default configuration.

    Attributes:
        name: name for people.
        values: values by knob name; in a space of column families, each family gets them.
        absent: what the preset sets too and no space has a knob for, by RocksDB's name of the option.
    """

    name: str
    values: Mapping[str, Value]
    absent: tuple[str, ...] = ()


def presets(argument_bytes: int) -> tuple[Preset, ...]:
    """Returns the hand-set changes of a default configuration, itself left out.

    The last two set what RocksDB's functions of these names set (line 662 of 11.8.1's `options/options.cc`,
    unchanged since 7.8). `level0_slowdown_writes_trigger` and `level0_stop_writes_trigger` keep the tuning
    guide's distance from the number of runs that starts a compaction; RocksDB would raise smaller ones.

    Args:
        argument_bytes: the functions' argument `memtable_memory_budget` in bytes, for each column family.
    """
    memtables: dict[str, Value] = {
        "write_buffer_size": argument_bytes // 4,
        "min_write_buffer_number_to_merge": 2,
        "max_write_buffer_number": _BUFFERS,
    }
    leveled: dict[str, Value] = {
        "level0_file_num_compaction_trigger": 2,
        "target_file_size_base": argument_bytes // 8,
        "max_bytes_for_level_base": argument_bytes,
        "compression": "kLZ4Compression",
        "lz4_per_level": "kNoCompression:kLZ4Compression",
    }
    # The knob is for level 0 alone; RocksDB's function leaves level 1 uncompressed too.
    level1 = "compression_per_level[1]=kNoCompression"
    return (
        *map(_universal, _RUN_COUNTS),
        Preset("OptimizeLevelStyleCompaction", {_STYLE: _LEVELED} | memtables | leveled, (level1,)),
        Preset(
            "OptimizeUniversalStyleCompaction",
            {_STYLE: _UNIVERSAL} | memtables,
            ("compaction_options_universal.compression_size_percent=80",),
        ),
    )


def _universal(runs: int) -> Preset:
    """Returns the preset of universal compaction that starts at a number of sorted runs."""
    triggers: dict[str, Value] = {
        "level0_file_num_compaction_trigger": runs,
        "level0_slowdown_writes_trigger": runs + 4,
        "level0_stop_writes_trigger": runs + 12,
    }
    return Preset(f"universal-{runs}", {_STYLE: _UNIVERSAL} | triggers)


@dataclass(frozen=True)
class HandSet:
    """A preset in a space.

    Attributes:
        name: name of the preset.
        configuration: the configuration; None if the space cannot hold the preset.
        differences: what of the preset the configuration does not have, or why there is none.
    """

    name: str
    configuration: Configuration | None
    differences: tuple[str, ...] = ()


def hand_set(space: Space) -> list[HandSet]:
    """Returns a space's default configuration and all presets, fitted to bounds, rules and memory."""
    first = "guide" if space.default_source == "tuning_guide" else "default"
    fitted = [_fitted(space, preset) for preset in presets(argument_bytes(space))]
    return [HandSet(first, space.default()), *fitted]


def argument_bytes(space: Space) -> int:
    """Returns the argument for RocksDB's functions: its default, or the largest that the memory allows.

    Six memtables of a quarter of the argument, in each column family, are at most what the budget leaves
    beside the filters and the smallest block cache. The argument is a multiple of 4 MiB.
    """
    budget = space.budget
    values = {name: column.item() for name, column in space.columns([space.default()]).items()}
    left_bytes = space.memory_bytes - budget.min_cache_bytes - float(budget.all_filter_bytes(values))
    buffer_bytes = int(left_bytes) // (len(budget.parts()) * _BUFFERS) // MIB * MIB
    return min(_MAX_ARGUMENT_BYTES, 4 * max(buffer_bytes, MIB))


def _fitted(space: Space, preset: Preset) -> HandSet:
    """Returns a preset in a space."""
    knobs = {knob.name: knob for knob in space.knobs}
    fixed = {name: column.item() for name, column in space.columns([space.default()]).items()}
    wanted = {
        prefix + name: value for prefix, _ in space.budget.parts() for name, value in preset.values.items()
    }
    for name, value in wanted.items():
        if name.endswith(_STYLE) and value not in (knobs[name].choices if name in knobs else (fixed[name],)):
            return HandSet(preset.name, None, (f"{name}: {value} is not in this space",))
    try:
        found = nearest_configuration(space, wanted)
    except UserError as refused:
        return HandSet(preset.name, None, (str(refused),))
    return HandSet(preset.name, found.configuration, (*found.differences, *preset.absent))


class Hand(Tuner):
    """A tuner that measures what an expert sets in a minute, and then the better half of it again.

    They are the space's default, universal compaction from 4, 8 and 12 sorted runs, and what RocksDB's
    `OptimizeLevelStyleCompaction` and `OptimizeUniversalStyleCompaction` set. Presets that a space cannot
    hold are left out. Budget beyond the second runs is not used.
    """

    name = "hand"
    summary = "what an expert sets in a minute: the tuning guide, universal compaction, RocksDB's own presets"
    settings_type = Spec

    def search(self, problem: Problem, rng: np.random.Generator) -> Search:  # noqa: ARG002
        """See `Tuner.search`. The explanation of the first batch says how each preset was fitted."""
        age_s = problem.age_s(problem.trial_age_s)
        found = hand_set(problem.space)
        explanation = {each.name: list(each.differences) for each in found if each.configuration is not None}
        left_out = {each.name: each.differences[0] for each in found if each.configuration is None}
        trials = tuple(Trial(each, age_s) for each in _distinct(found))
        results = yield Batch(trials, explanation={"hand_set": explanation, "left_out": left_out})
        left = affordable_trials(problem.budget_s, age_s) - len(trials)
        ranked = best_first(results, problem.objective)
        again = [result.trial.configuration for result in ranked[: min(survivors(len(ranked)), left)]]
        if again:
            yield Batch(
                tuple(Trial(each, age_s, _AGAIN) for each in again), tuple(trial.run for trial in trials)
            )

    def min_budget_s(self, problem: Problem) -> float:
        """Returns the cost of one run of each configuration in seconds of measuring."""
        return len(_distinct(hand_set(problem.space))) * problem.age_s(problem.trial_age_s)


def _distinct(found: list[HandSet]) -> list[Configuration]:
    """Returns the configurations without repetition."""
    return list(dict.fromkeys(each.configuration for each in found if each.configuration is not None))
