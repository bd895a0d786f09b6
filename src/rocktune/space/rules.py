"""Dremel's rules 1 to 8 (section 4.2), which a valid configuration of its space keeps."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocktune.errors import UserError
from rocktune.lsm import (
    level0_size_bytes,
    worst_case_read_amplification,
    worst_case_space_amplification,
    worst_case_write_amplification,
)
from rocktune.lsm.arrays import Numbers
from rocktune.space.memory import MemoryBudget
from rocktune.units import format_bytes

MIN_LEVEL0_TOLERANCE = 2.0
"""The smallest tolerance of rule 8. Table 1's default needs it: level 1 has 256 MB, level 0 has 512 MB."""


class Rule(ABC):
    """A condition on a configuration's values, which are named as the knobs are and at full size.

    Attributes:
        number: number of the rule in its paper.
        statement: the condition in words.
        compares: names of the knobs that the rule compares. It applies only to configurations in which all
            conditional ones of them are active.
    """

    number: int
    statement: str
    compares: tuple[str, ...] = ()

    @abstractmethod
    def holds(self, values: Mapping[str, Numbers]) -> NDArray[np.bool_]:
        """Returns whether each configuration keeps the rule.

        Args:
            values: by knob name, one number or one array over the configurations.

        Returns:
            An array of the values' common shape.
        """

    @abstractmethod
    def numbers(self, values: Mapping[str, float]) -> str:
        """Returns the numbers that the rule compares for one configuration, as text for a message."""

    def explanation(self, values: Mapping[str, float]) -> str:
        """Returns the message for one configuration that breaks the rule."""
        return f"rule {self.number} ({self.statement}) is broken: {self.numbers(values)}"


@dataclass(frozen=True)
class SpaceAmplificationBounded(Rule):
    """Rule 1: a size ratio of at least 4, because levels of similar sizes hold many outdated entries."""

    number = 1
    statement = "max_bytes_for_level_multiplier at least 4"
    compares = ("max_bytes_for_level_multiplier",)

    def holds(self, values: Mapping[str, Numbers]) -> NDArray[np.bool_]:
        """Returns whether each configuration keeps the rule; see `Rule.holds`."""
        return np.asarray(values["max_bytes_for_level_multiplier"]) >= 4

    def numbers(self, values: Mapping[str, float]) -> str:
        """Returns the numbers that the rule compares, as text; see `Rule.numbers`."""
        ratio, levels = values["max_bytes_for_level_multiplier"], values["num_levels"]
        amplification = float(worst_case_space_amplification(ratio, levels))
        return f"it is {ratio}; {amplification:.2f} outdated bytes per live byte at worst"


@dataclass(frozen=True)
class ReadAmplificationBounded(Rule):
    """Rule 2: at most 24 files in level 0, because one read may have to search all of them."""

    number = 2
    statement = "level0_stop_writes_trigger at most 24"
    compares = ("level0_stop_writes_trigger",)

    def holds(self, values: Mapping[str, Numbers]) -> NDArray[np.bool_]:
        """Returns whether each configuration keeps the rule; see `Rule.holds`."""
        return np.asarray(values["level0_stop_writes_trigger"]) <= 24

    def numbers(self, values: Mapping[str, float]) -> str:
        """Returns the numbers that the rule compares, as text; see `Rule.numbers`."""
        files, levels = values["level0_stop_writes_trigger"], values["num_levels"]
        amplification = float(worst_case_read_amplification(levels, files))
        return f"it is {files}; {amplification:.0f} files searched by one read at worst"


@dataclass(frozen=True)
class WriteAmplificationBounded(Rule):
    """Rule 3: a size ratio of at most 16, because each level may rewrite an entry that many times."""

    number = 3
    statement = "max_bytes_for_level_multiplier at most 16"
    compares = ("max_bytes_for_level_multiplier",)

    def holds(self, values: Mapping[str, Numbers]) -> NDArray[np.bool_]:
        """Returns whether each configuration keeps the rule; see `Rule.holds`."""
        return np.asarray(values["max_bytes_for_level_multiplier"]) <= 16

    def numbers(self, values: Mapping[str, float]) -> str:
        """Returns the numbers that the rule compares, as text; see `Rule.numbers`."""
        ratio, levels = values["max_bytes_for_level_multiplier"], values["num_levels"]
        amplification = float(worst_case_write_amplification(ratio, levels))
        return f"it is {ratio}; an entry rewritten {amplification:.0f} times at worst"


@dataclass(frozen=True)
class MemoryBudgetKept(Rule):
    """Rule 4: memtables, filters and the smallest allowed block cache fit into the memory budget.

    Attributes:
        budget: the memory budget.
    """

    budget: MemoryBudget
    number = 4
    statement = "memtables, filters and block cache within the memory budget"

    def holds(self, values: Mapping[str, Numbers]) -> NDArray[np.bool_]:
        """Returns whether each configuration keeps the rule; see `Rule.holds`."""
        return self.budget.suffices(values)

    def numbers(self, values: Mapping[str, float]) -> str:
        """Returns the numbers that the rule compares, as text; see `Rule.numbers`."""
        filter_bytes = float(self.budget.all_filter_bytes(values))
        cache_bytes = float(self.budget.block_cache_bytes(values))
        memtables = " and ".join(
            f"{values[prefix + 'max_write_buffer_number']} write buffers of "
            f"{format_bytes(values[prefix + 'write_buffer_size'])}"
            for prefix, _ in self.budget.parts()
        )
        taken = format_bytes(float(self.budget.memtable_bytes(values)))
        return (
            f"{memtables} take {taken} and filters {format_bytes(filter_bytes)} "
            f"of {format_bytes(self.budget.memory_bytes)}, which leaves the block cache "
            f"{format_bytes(cache_bytes)}; it needs at least {format_bytes(self.budget.min_cache_bytes)}"
        )


@dataclass(frozen=True)
class Level0TriggersOrdered(Rule):
    """Rule 5: as level 0 fills, compaction starts first, then writes are delayed, then they stop."""

    number = 5
    statement = (
        "level0_file_num_compaction_trigger < level0_slowdown_writes_trigger < level0_stop_writes_trigger"
    )
    compares = (
        "level0_file_num_compaction_trigger",
        "level0_slowdown_writes_trigger",
        "level0_stop_writes_trigger",
    )

    def holds(self, values: Mapping[str, Numbers]) -> NDArray[np.bool_]:
        """Returns whether each configuration keeps the rule; see `Rule.holds`."""
        slowdown = np.asarray(values["level0_slowdown_writes_trigger"])
        compaction, stop = values["level0_file_num_compaction_trigger"], values["level0_stop_writes_trigger"]
        return (slowdown > compaction) & (slowdown < stop)

    def numbers(self, values: Mapping[str, float]) -> str:
        """Returns the numbers that the rule compares, as text; see `Rule.numbers`."""
        return (
            f"{values['level0_file_num_compaction_trigger']}, {values['level0_slowdown_writes_trigger']}, "
            f"{values['level0_stop_writes_trigger']}"
        )


@dataclass(frozen=True)
class LevelsHaveSeveralFiles(Rule):
    """Rule 6: level sizes grow faster than file sizes, so that deep levels have several files."""

    number = 6
    statement = "max_bytes_for_level_multiplier > target_file_size_multiplier"
    compares = ("max_bytes_for_level_multiplier", "target_file_size_multiplier")

    def holds(self, values: Mapping[str, Numbers]) -> NDArray[np.bool_]:
        """Returns whether each configuration keeps the rule; see `Rule.holds`."""
        return np.asarray(values["max_bytes_for_level_multiplier"]) > values["target_file_size_multiplier"]

    def numbers(self, values: Mapping[str, float]) -> str:
        """Returns the numbers that the rule compares, as text; see `Rule.numbers`."""
        return f"{values['max_bytes_for_level_multiplier']} and {values['target_file_size_multiplier']}"


@dataclass(frozen=True)
class FlushStartsBeforeBuffersRunOut(Rule):
    """Rule 7: a flush starts before all memtables are full, so that writes can go on during it."""

    number = 7
    statement = "min_write_buffer_number_to_merge < max_write_buffer_number"
    compares = ("min_write_buffer_number_to_merge", "max_write_buffer_number")

    def holds(self, values: Mapping[str, Numbers]) -> NDArray[np.bool_]:
        """Returns whether each configuration keeps the rule; see `Rule.holds`."""
        return np.asarray(values["min_write_buffer_number_to_merge"]) < values["max_write_buffer_number"]

    def numbers(self, values: Mapping[str, float]) -> str:
        """Returns the numbers that the rule compares, as text; see `Rule.numbers`."""
        return f"{values['min_write_buffer_number_to_merge']} and {values['max_write_buffer_number']}"


@dataclass(frozen=True)
class Level1LikeLevel0(Rule):
    """Rule 8: level 1 is about as large as level 0, so that merging one into the other is fast.

    Attributes:
        tolerance: the largest allowed ratio of the larger level to the smaller; at least
            `MIN_LEVEL0_TOLERANCE`.
    """

    tolerance: float = MIN_LEVEL0_TOLERANCE
    number = 8
    statement = "max_bytes_for_level_base near the size of level 0"
    compares = (
        "max_bytes_for_level_base",
        "level0_file_num_compaction_trigger",
        "min_write_buffer_number_to_merge",
        "write_buffer_size",
    )

    def __post_init__(self) -> None:
        """Checks the tolerance.

        Raises:
            UserError: it is below `MIN_LEVEL0_TOLERANCE`.
        """
        # Written so that NaN is refused too.
        if not self.tolerance >= MIN_LEVEL0_TOLERANCE:
            raise UserError(
                f"level0_size_tolerance: {self.tolerance} is below {MIN_LEVEL0_TOLERANCE:g}, "
                "which the tuning guide's own defaults need; use a larger number"
            )

    def holds(self, values: Mapping[str, Numbers]) -> NDArray[np.bool_]:
        """Returns whether each configuration keeps the rule; see `Rule.holds`."""
        # "About as large" must mean the same whichever of the two levels is larger.
        ratio = np.asarray(values["max_bytes_for_level_base"]) / _level0_bytes(values)
        return (ratio >= 1 / self.tolerance) & (ratio <= self.tolerance)

    def numbers(self, values: Mapping[str, float]) -> str:
        """Returns the numbers that the rule compares, as text; see `Rule.numbers`."""
        level1, level0 = values["max_bytes_for_level_base"], float(_level0_bytes(values))
        return (
            f"{format_bytes(level1)} against {format_bytes(level0)} "
            f"({values['level0_file_num_compaction_trigger']} files of "
            f"{values['min_write_buffer_number_to_merge']} write buffers of "
            f"{format_bytes(values['write_buffer_size'])}); at most {self.tolerance:g} times either way"
        )


def _level0_bytes(values: Mapping[str, Numbers]) -> NDArray[np.float64]:
    """Returns the bytes in level 0 when its compaction starts."""
    return level0_size_bytes(
        values["level0_file_num_compaction_trigger"],
        values["min_write_buffer_number_to_merge"],
        values["write_buffer_size"],
    )


def dremel_rules(budget: MemoryBudget, level0_tolerance: float = MIN_LEVEL0_TOLERANCE) -> tuple[Rule, ...]:
    """Returns Dremel's rules 1 to 8 in order.

    Args:
        budget: the memory budget of rule 4.
        level0_tolerance: tolerance of rule 8, at least `MIN_LEVEL0_TOLERANCE`.

    Raises:
        UserError: the tolerance is too small.
    """
    return (
        SpaceAmplificationBounded(),
        ReadAmplificationBounded(),
        WriteAmplificationBounded(),
        MemoryBudgetKept(budget),
        Level0TriggersOrdered(),
        LevelsHaveSeveralFiles(),
        FlushStartsBeforeBuffersRunOut(),
        Level1LikeLevel0(level0_tolerance),
    )
