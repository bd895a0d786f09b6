"""A space: knobs, rules between them, a memory budget; it makes, judges and translates configurations."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocktune.errors import UserError, unknown_name
from rocktune.lsm.arrays import Numbers
from rocktune.space.block_cache import BlockCache, block_cache_in
from rocktune.space.catalogue import CATALOGUE
from rocktune.space.configuration import Configuration, OptionMaps, Value
from rocktune.space.knob import Knob
from rocktune.space.memory import MIN_CACHE_SHARE, MemoryBudget, MemoryShares
from rocktune.space.options import BLOCK_CACHE, knob_values, merged_options
from rocktune.space.rules import MemoryBudgetKept, Rule
from rocktune.units import MIB, format_bytes

# Draws come in chunks of this size: a few MB for the columns, and few enough passes over the rules.
_CHUNK = 1 << 15
# A space of which less than this share is valid is taken for empty.
_MIN_VALID_SHARE = 1e-5
_DRAWS_BEFORE_GIVING_UP = 16 * _CHUNK
_MAX_GRID = 100_000

Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Space:
    """What may be tuned, and under which conditions. Immutable; methods are pure but for the `rng` given.

    Attributes:
        name: as users call it.
        summary: one line.
        knobs: the active ones.
        memory_bytes: the budget that memtables, filters and block cache share, at full size.
        fixed_options: options of every configuration that no knob sets, at full size.
        expected_entries: distinct keys by the end of a full-length run; they decide what filters take.
        rules: what a valid configuration keeps.
        default_source: where the knobs' defaults come from: "tuning_guide" (RocksDB's), or "space_default":
            the space's own choice.
        block_cache: the kind and settings of every configuration's block cache; its capacity counts only
            where the cache is neither a knob nor what the budget leaves.
        min_cache_share: of the budget, which a valid configuration leaves for the block cache.
    """

    name: str
    summary: str
    knobs: tuple[Knob, ...]
    memory_bytes: int
    fixed_options: OptionMaps = field(default_factory=dict)
    expected_entries: float = 0.0
    rules: tuple[Rule, ...] = ()
    default_source: str = "space_default"
    block_cache: BlockCache = field(default_factory=lambda: BlockCache(0))
    min_cache_share: float = MIN_CACHE_SHARE

    @property
    def derives_block_cache(self) -> bool:
        """Whether the block cache is what the budget leaves, neither a knob nor pinned."""
        is_knob = any(knob.name == BLOCK_CACHE for knob in self.knobs)
        return not is_knob and BLOCK_CACHE not in self.fixed_options.get("table", {})

    @property
    def budget(self) -> MemoryBudget:
        """How the memory is shared out."""
        is_flsm = "flsm" in self.fixed_options or any(knob.section == "flsm" for knob in self.knobs)
        filter_bits = "flsm_bits_per_key" if is_flsm else "bloom_bits"
        return MemoryBudget(self.memory_bytes, self.expected_entries, filter_bits, self.min_cache_share)

    @cached_property
    def _constants(self) -> dict[str, Value]:
        """What a store with the fixed options alone has, for every knob and all that is in the catalogue."""
        own = {knob.name: knob for knob in self.knobs}
        return knob_values(self.fixed_options, (CATALOGUE | own).values())

    def sample(self, count: int, rng: np.random.Generator) -> list[Configuration]:
        """Draws valid configurations, uniformly among the valid ones and independent of each other.

        Values are drawn knob by knob, in the knobs' order, and those that break a rule are rejected. With
        the same generator a smaller count gives a prefix of a larger one's configurations.

        Raises:
            UserError: practically nothing in the space is valid; says which rule stands in the way.
        """
        configurations: list[Configuration] = []
        drawn = 0
        while len(configurations) < count:
            columns = {knob.name: knob.sample(_CHUNK, rng) for knob in self.knobs}
            valid = np.flatnonzero(self.valid(columns))[: count - len(configurations)]
            configurations.extend(_rows(columns, valid))
            drawn += _CHUNK
            if drawn >= _DRAWS_BEFORE_GIVING_UP and len(configurations) < _MIN_VALID_SHARE * drawn:
                raise self._nothing_valid(columns)
        return configurations

    def grid(self) -> list[Configuration]:
        """Returns every valid configuration, the last knob's values changing fastest.

        Raises:
            UserError: a knob has no end of values, or there are more than 100,000 combinations.
        """
        try:
            axes = {knob.name: knob.values(_MAX_GRID) for knob in self.knobs}
        except UserError as problem:
            raise UserError(f"space '{self.name}' has no grid: {problem}") from None
        combinations = math.prod(map(len, axes.values()))
        if combinations > _MAX_GRID:
            raise UserError(
                f"space '{self.name}' has no grid: {combinations:,} combinations, more than {_MAX_GRID:,}"
            )
        rows = list(itertools.product(*axes.values()))
        columns = {name: np.array(column) for name, column in zip(axes, zip(*rows, strict=True), strict=True)}
        return list(_rows(columns, np.flatnonzero(self.valid(columns))))

    def valid(self, columns: Columns) -> NDArray[np.bool_]:
        """Tells which of many configurations keep all rules; bounds are not looked at.

        Args:
            columns: every active knob's values, equally long arrays by name.
        """
        (length,) = {len(column) for column in columns.values()}
        result = np.ones(length, dtype=np.bool_)
        values = self._with_constants(columns)
        for rule in self.rules:
            result &= rule.holds(values)
        return result

    def columns(self, configurations: Sequence[Mapping[str, Value]]) -> dict[str, NDArray[Any]]:
        """Returns many configurations' values as arrays, by knob name.

        Numbers that no active knob holds are filled in as a store with `fixed_options` would have them, so
        that formulas find every option they need.
        """
        if not configurations:
            return {}
        set_by_some = set().union(*configurations)
        return {
            name: np.array([configuration.get(name, value) for configuration in configurations])
            if name in set_by_some
            else np.full(len(configurations), value)
            for name, value in self._constants.items()
        }

    def default(self) -> Configuration:
        """Returns the configuration to start from: every knob's default."""
        return Configuration({knob.name: knob.default for knob in self.knobs})

    def broken_rules(self, configuration: Mapping[str, Value]) -> list[str]:
        """Returns one line with the numbers for each rule that the configuration breaks."""
        if not self.rules:
            return []
        values = _numbers(self._all_values(configuration))
        return [rule.explanation(values) for rule in self.rules if not rule.holds(values)]

    def validate(self, configuration: Mapping[str, Value]) -> None:
        """Accepts a configuration of exactly the active knobs, within bounds and rules.

        Raises:
            UserError: the first thing that is wrong with it.
        """
        knobs = {knob.name: knob for knob in self.knobs}
        for name, value in configuration.items():
            if name not in knobs:
                raise unknown_name(f"option of space '{self.name}':", name, knobs)
            knobs[name].check(value)
        for name in knobs:
            if name not in configuration:
                raise UserError(f"{name}: the configuration has no value for it")
        broken = self.broken_rules(configuration)
        if broken:
            raise UserError(broken[0])

    def options(self, configuration: Mapping[str, Value]) -> OptionMaps:
        """Returns the full-size options of a configuration: the fixed ones, its knobs and the block cache.

        The block cache is what the memory budget leaves, unless it is a knob or pinned.

        Raises:
            UserError: a value is for no knob, or memtables and filters alone exceed the memory budget.
        """
        result = merged_options(self.fixed_options)
        knobs = {knob.name: knob for knob in self.knobs}
        for name, value in configuration.items():
            if name not in knobs:
                raise unknown_name(f"option of space '{self.name}':", name, knobs)
            if knobs[name].section != "workload":
                section = result.setdefault(knobs[name].section, {})
                section[knobs[name].option_name] = knobs[name].text(value)
        if BLOCK_CACHE in knobs and BLOCK_CACHE in configuration:
            capacity_bytes = block_cache_in(result["table"][BLOCK_CACHE]).capacity_bytes
        elif not self.derives_block_cache or result["table"].get("no_block_cache") == "true":
            return result
        else:
            values = _numbers(self._all_values(configuration))
            capacity_bytes = int(self.budget.block_cache_bytes(values))
            if capacity_bytes <= 0:
                raise UserError(MemoryBudgetKept(self.budget).explanation(values))
        result["table"][BLOCK_CACHE] = self.block_cache.with_capacity(capacity_bytes).text
        return result

    def memory_shares(self, options: OptionMaps) -> MemoryShares:
        """Returns the memory that a store with these full-size options may take.

        Args:
            options: at full size; a block cache that is not there counts as none.
        """
        own = {knob.name: knob for knob in self.knobs}
        values = _numbers(knob_values(options, (CATALOGUE | own).values()))
        table = options.get("table", {})
        cache = table.get(BLOCK_CACHE)
        has_cache = cache is not None and table.get("no_block_cache") != "true"
        return MemoryShares(
            memtable_bytes=int(values["max_write_buffer_number"] * values["write_buffer_size"]),
            filter_bytes=int(self.budget.filter_bytes(values.get(self.budget.filter_bits, 0.0))),
            block_cache=block_cache_in(cache) if has_cache and cache is not None else None,
        )

    def workload_changes(self, configuration: Mapping[str, Value]) -> dict[str, Value]:
        """Returns the fields of the workload that a configuration sets."""
        return {
            knob.option_name: configuration[knob.name]
            for knob in self.knobs
            if knob.section == "workload" and knob.name in configuration
        }

    def configuration_from_options(self, options: OptionMaps) -> Configuration:
        """Returns what a store with these options has for the active knobs; values out of bounds are kept."""
        return Configuration(knob_values(options, self.knobs))

    def over(self, base_options: OptionMaps) -> "Space":
        """Returns this space on top of the user's own options, which win over the preset's fixed ones.

        The block cache keeps the kind and settings of theirs. Its capacity is what the budget leaves, where
        it is that in this space, and may then be as small a share of the budget as theirs is, so that their
        own configuration keeps the space's rules.
        """
        table = dict(base_options.get("table", {}))
        text = table.get(BLOCK_CACHE)
        if not self.derives_block_cache:
            cache = self.block_cache if text is None else block_cache_in(text)
            fixed = merged_options(self.fixed_options, base_options)
            return replace(self, block_cache=cache, fixed_options=fixed)
        table.pop(BLOCK_CACHE, None)
        fixed = merged_options(self.fixed_options, {**base_options, "table": table})
        share, cache = self.min_cache_share, self.block_cache
        if table.get("no_block_cache") == "true":
            share = 0.0
        elif text is not None:
            cache = block_cache_in(text)
            share = min(share, cache.capacity_bytes / self.memory_bytes)
        space = replace(self, block_cache=cache, min_cache_share=share, fixed_options=fixed)
        kept = MemoryBudgetKept(space.budget)
        rules = tuple(kept if rule.number == kept.number else rule for rule in self.rules)
        return replace(space, rules=rules)

    def _all_values(self, configuration: Mapping[str, Value]) -> dict[str, Value]:
        return self._constants | dict(configuration)

    def _with_constants(self, columns: Columns) -> dict[str, Numbers]:
        return {**_numbers(self._constants), **columns}

    def _nothing_valid(self, columns: Columns) -> UserError:
        values = self._with_constants(columns)
        kept = {rule.number: float(np.mean(rule.holds(values))) for rule in self.rules}
        rule = min(self.rules, key=lambda each: kept[each.number])
        if isinstance(rule, MemoryBudgetKept):
            return self.budget_too_small()
        share = "no" if kept[rule.number] == 0 else "practically no"
        return UserError(
            f"space '{self.name}': {share} configuration keeps rule {rule.number} ({rule.statement})"
        )

    def budget_too_small(self) -> UserError:
        """Returns the error for a budget that the default does not fit, with the smallest that it does."""
        lows = {knob.name: min(knob.choices, default=knob.low) for knob in self.knobs}
        filters = {name: value for name, value in self.default().items() if name == self.budget.filter_bits}
        values = _numbers(self._all_values(lows | filters))
        buffers = max(values["max_write_buffer_number"], values["min_write_buffer_number_to_merge"] + 1)
        smallest = self.budget.min_sufficient_bytes(
            buffers * values["write_buffer_size"], values[self.budget.filter_bits]
        )
        return UserError(
            f"space '{self.name}': a memory budget of {format_bytes(self.memory_bytes)} is too small for "
            f"{self.budget.expected_entries:.4g} keys; it takes at least {-(-smallest // MIB)}MiB"
        )


def _numbers(values: Mapping[str, Value]) -> dict[str, float]:
    return {name: value for name, value in values.items() if not isinstance(value, bool | str)}


def _rows(columns: Columns, positions: NDArray[np.intp]) -> Iterator[Configuration]:
    names = tuple(columns)
    for row in zip(*(columns[name][positions].tolist() for name in names), strict=True):
        yield Configuration(dict(zip(names, row, strict=True)))
