"""Spaces, which draw and validate configurations and translate them into RocksDB options."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocktune.errors import BudgetTooSmallError, UserError
from rocktune.space.block_cache import BlockCache, parse_block_cache
from rocktune.space.conditions import Columns, ConditionalKnobs
from rocktune.space.configuration import Configuration, OptionMaps, Value
from rocktune.space.knob import Knob
from rocktune.space.memory import MIN_CACHE_SHARE, FamilyEntries, MemoryBudget, MemoryShares
from rocktune.space.options import (
    BLOCK_CACHE,
    all_values,
    caches_filters,
    knob_values,
    merged_options,
    thread_columns,
    value_columns,
    with_knobs,
)
from rocktune.space.rules import MemoryBudgetKept, Rule
from rocktune.units import MIB, format_bytes

# Configurations are drawn in chunks of this size: it keeps the columns at a few MB and amortises the rules.
_CHUNK = 1 << 15
# A space counts as empty if a smaller share of its draws is valid.
_MIN_VALID_SHARE = 1e-5
_DRAWS_BEFORE_GIVING_UP = 16 * _CHUNK
_MAX_GRID = 100_000


@dataclass(frozen=True)
class Space:
    """The knobs to tune, the rules between them, the memory budget and the fixed options. Immutable.

    Attributes:
        name: name of the space for users.
        summary: a description in one line.
        knobs: the knobs to tune. A configuration holds the active ones only.
        memory_bytes: the budget in bytes that memtables, filters and block cache share, at full size.
        fixed_options: options that all configurations share and no knob sets, at full size.
        expected_entries: distinct keys in the store by the end of a full-length run, at full size. The
            memory of filters is proportional to them.
        rules: the conditions that a valid configuration keeps.
        default_source: origin of the knobs' defaults: "tuning_guide" (RocksDB's) or "space_default" (chosen
            for this space).
        block_cache: the kind and settings of all configurations' block caches. Its capacity is used only if
            the cache is neither a knob nor derived from the budget.
        min_cache_share: smallest share of the budget, from 0 to 1, that a valid configuration leaves for the
            block cache.
        families: the column families with knobs of their own; empty for a space of one family.
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
    families: tuple[FamilyEntries, ...] = ()

    def __post_init__(self) -> None:
        """Checks the conditions of the knobs.

        Raises:
            UserError: see `ConditionalKnobs`.
        """
        _ = self.conditional_knobs

    @cached_property
    def conditional_knobs(self) -> ConditionalKnobs:
        """The knobs with their conditions."""
        return ConditionalKnobs(self.knobs)

    @property
    def derives_block_cache(self) -> bool:
        """Whether the block cache gets the rest of the budget, being neither a knob nor a fixed option."""
        is_knob = any(knob.name == BLOCK_CACHE for knob in self.knobs)
        return not is_knob and BLOCK_CACHE not in self.fixed_options.get("table", {})

    @property
    def budget(self) -> MemoryBudget:
        """The memory budget with this space's filters and smallest block cache."""
        is_flsm = "flsm" in self.fixed_options or any(knob.section == "flsm" for knob in self.knobs)
        filter_bits = "flsm_bits_per_key" if is_flsm else "bloom_bits"
        return MemoryBudget(
            self.memory_bytes,
            self.expected_entries,
            filter_bits,
            self.min_cache_share,
            self.families,
            caches_filters(self.fixed_options, self.families),
        )

    @cached_property
    def _constants(self) -> dict[str, Value]:
        """The values of all knobs and catalogue entries in a store with only the fixed options, by name."""
        return all_values(self.fixed_options, self.knobs, self.families)

    def sample(self, count: int, rng: np.random.Generator) -> list[Configuration]:
        """Returns `count` independent draws from the valid configurations.

        Each knob is sampled by itself, inactive ones are dropped, and configurations that break a rule are
        rejected. With equal generators, a smaller count returns a prefix of a larger count's configurations.

        Raises:
            UserError: almost no configuration is valid; names the rule that most of them break.
        """
        configurations: list[Configuration] = []
        drawn = 0
        while len(configurations) < count:
            # Always a whole chunk, whatever is missing, so that results do not depend on `count`.
            columns = {knob.name: knob.sample(_CHUNK, rng) for knob in self.knobs}
            valid = np.flatnonzero(self.valid(columns))[: count - len(configurations)]
            configurations.extend(self.conditional_knobs.configurations(columns, valid))
            drawn += _CHUNK
            if drawn >= _DRAWS_BEFORE_GIVING_UP and len(configurations) < _MIN_VALID_SHARE * drawn:
                raise self._nothing_valid(columns)
        return configurations

    def grid(self) -> list[Configuration]:
        """Returns all valid configurations in the order of nested loops, the last knob innermost.

        Raises:
            UserError: a knob takes real numbers, or there are more than 100,000 combinations.
        """
        try:
            combinations = self.conditional_knobs.combinations(_MAX_GRID)
        except UserError as problem:
            raise UserError(f"space '{self.name}' has no grid: {problem}") from None
        columns = self.columns(combinations)
        valid = self.valid({knob.name: columns[knob.name] for knob in self.knobs})
        return [combinations[index] for index in np.flatnonzero(valid)]

    def valid(self, columns: Columns) -> NDArray[np.bool_]:
        """Returns whether each of many configurations keeps all rules; bounds are not checked.

        Args:
            columns: the values of all knobs by name, as arrays of equal length. Those of inactive knobs do
                not matter.
        """
        (length,) = {len(column) for column in columns.values()}
        result = np.ones(length, dtype=np.bool_)
        for holds in self._kept(columns):
            result &= holds
        return result

    def _kept(self, columns: Columns) -> Iterator[NDArray[np.bool_]]:
        """Yields for each rule which of many configurations keep it; see `valid`."""
        active = self.conditional_knobs.active_rows(columns)
        values: dict[str, Any] = _numbers(self._constants) | dict(columns)
        for name, rows in active.items():
            values[name] = np.where(rows, columns[name], self._constants[name])
        for rule in self.rules:
            holds = rule.holds(values)
            for name in active.keys() & set(rule.compares):
                holds = holds | ~active[name]
            yield holds

    def columns(self, configurations: Sequence[Mapping[str, Value]]) -> dict[str, NDArray[Any]]:
        """Returns the values of many configurations as arrays by knob name.

        Options that a configuration does not set have the values of a store with `fixed_options`, so that
        formulas find all options that they need. Numbers of threads are those into which RocksDB divides
        `max_background_jobs`, if that is a knob.
        """
        if not configurations:
            return {}
        columns = value_columns(configurations, self._constants)
        return columns | thread_columns(self.fixed_options, self.knobs, configurations)

    def default(self) -> Configuration:
        """Returns the configuration of the knobs' defaults, from which tuning starts."""
        return self.activated({})

    def activated(self, values: Mapping[str, Value]) -> Configuration:
        """Returns the configuration of the active knobs, which may break a rule.

        Args:
            values: values by knob name. Those of inactive knobs are dropped; an active knob without a value
                gets its default.
        """
        return self.conditional_knobs.activated(values)

    def broken_rules(self, configuration: Mapping[str, Value]) -> list[str]:
        """Returns a message with the compared numbers for each rule that the configuration breaks."""
        if not self.rules:
            return []
        inactive = self.conditional_knobs.conditional - self.conditional_knobs.active(configuration).keys()
        held = {name: value for name, value in configuration.items() if name not in inactive}
        values = _numbers(self._constants | held)
        return [
            rule.explanation(values)
            for rule in self.rules
            if inactive.isdisjoint(rule.compares) and not rule.holds(values)
        ]

    def validate(self, configuration: Mapping[str, Value]) -> None:
        """Checks that a configuration has exactly the active knobs and keeps their bounds and all rules.

        Raises:
            UserError: it does not; names the first fault.
        """
        knobs = {knob.name: knob for knob in self.knobs}
        for name, value in configuration.items():
            if name in knobs:
                knobs[name].check(value)
        self.conditional_knobs.refuse_others(self.name, configuration)
        for name in self.conditional_knobs.active(configuration):
            if name not in configuration:
                raise UserError(f"{name}: the configuration has no value for this knob; add one")
        broken = self.broken_rules(configuration)
        if broken:
            raise UserError(broken[0])

    def options(self, configuration: Mapping[str, Value]) -> OptionMaps:
        """Returns a configuration's options at full size: fixed options, knobs and the block cache.

        The block cache gets the rest of the memory budget unless it is a knob or a fixed option.

        Raises:
            UserError: the configuration has an unknown or inactive knob, or memtables and filters exceed the
                budget.
        """
        knobs = {knob.name: knob for knob in self.knobs}
        self.conditional_knobs.refuse_others(self.name, configuration)
        # In this order, because a knob may write into an option that its parent has written.
        result = with_knobs(self.fixed_options, self.conditional_knobs.in_order, configuration)
        if BLOCK_CACHE in knobs and BLOCK_CACHE in configuration:
            capacity_bytes = parse_block_cache(result["table"][BLOCK_CACHE]).capacity_bytes
        # A fixed block cache is among the fixed options already.
        elif not self.derives_block_cache or result["table"].get("no_block_cache") == "true":
            return result
        else:
            values = _numbers(self._constants | dict(configuration))
            capacity_bytes = int(self.budget.block_cache_bytes(values))
            if capacity_bytes <= 0:
                raise UserError(MemoryBudgetKept(self.budget).explanation(values))
        result["table"][BLOCK_CACHE] = self.block_cache.with_capacity(capacity_bytes).text
        return result

    def memory_shares(self, options: OptionMaps) -> MemoryShares:
        """Returns the memory that a store with these options may use.

        Args:
            options: the options at full size. An absent `block_cache` counts as no cache.
        """
        values = _numbers(all_values(options, self.knobs, self.families))
        budget = replace(self.budget, filters_in_cache=caches_filters(options, self.families))
        table = options.get("table", {})
        cache = table.get(BLOCK_CACHE)
        has_cache = cache is not None and table.get("no_block_cache") != "true"
        return MemoryShares(
            memtable_bytes=int(budget.memtable_bytes(values)),
            filter_bytes=int(budget.filter_bytes_outside(values)),
            block_cache=parse_block_cache(cache) if has_cache and cache is not None else None,
        )

    def workload_changes(self, configuration: Mapping[str, Value]) -> dict[str, Value]:
        """Returns the fields of the workload that a configuration sets, by field name."""
        return {
            knob.option_name: configuration[knob.name]
            for knob in self.knobs
            if knob.section == "workload" and knob.name in configuration
        }

    def configuration_from_options(self, options: OptionMaps) -> Configuration:
        """Returns the configuration of a store with these options; its values may be out of bounds.

        Raises:
            UserError: an option's text does not contain a value of its knob's type.
        """
        return self.activated(knob_values(options, self.knobs))

    def with_base_options(self, base_options: OptionMaps) -> "Space":
        """Returns this space with the user's own options among the fixed ones, which they replace.

        The block cache has the kind and settings of the user's. If its capacity is the rest of the budget,
        the smallest allowed share becomes at most that of the user's cache, so that the user's own
        configuration keeps rule 4.
        """
        table = dict(base_options.get("table", {}))
        text = table.get(BLOCK_CACHE)
        if not self.derives_block_cache:
            cache = self.block_cache if text is None else parse_block_cache(text)
            fixed = merged_options(self.fixed_options, base_options)
            return replace(self, block_cache=cache, fixed_options=fixed)
        table.pop(BLOCK_CACHE, None)
        fixed = merged_options(self.fixed_options, {**base_options, "table": table})
        share, cache = self.min_cache_share, self.block_cache
        if table.get("no_block_cache") == "true":
            share = 0.0
        elif text is not None:
            cache = parse_block_cache(text)
            share = min(share, cache.capacity_bytes / self.memory_bytes)
        space = replace(self, block_cache=cache, min_cache_share=share, fixed_options=fixed)
        # The preset's rule 4 still holds the old budget.
        kept = MemoryBudgetKept(space.budget)
        rules = tuple(kept if rule.number == kept.number else rule for rule in self.rules)
        return replace(space, rules=rules)

    def _nothing_valid(self, columns: Columns) -> UserError:
        """Returns the error for a space whose draws in `columns` are almost all invalid."""
        # The rule that the fewest draws keep is the one to name.
        kept = [float(np.mean(holds)) for holds in self._kept(columns)]
        least = min(range(len(kept)), key=kept.__getitem__)
        rule = self.rules[least]
        if isinstance(rule, MemoryBudgetKept):
            return self.budget_too_small()
        share = "no" if kept[least] == 0 else "practically no"
        return UserError(
            f"space '{self.name}': {share} configuration keeps rule {rule.number} ({rule.statement})"
        )

    def budget_too_small(self) -> BudgetTooSmallError:
        """Returns the error for a budget that no configuration fits; names the smallest sufficient budget.

        Knobs have their smallest values in it, except that filters keep their default bits per key.
        """
        lows = {knob.name: min(knob.choices, default=knob.low) for knob in self.knobs}
        filter_knobs = {prefix + self.budget.filter_bits for prefix, _ in self.budget.parts()}
        filters = {name: value for name, value in self.default().items() if name in filter_knobs}
        values = _numbers(self._constants | lows | filters)
        for prefix, _ in self.budget.parts():
            # Rule 7 needs one memtable more than a flush merges.
            buffers, merged = f"{prefix}max_write_buffer_number", f"{prefix}min_write_buffer_number_to_merge"
            values[buffers] = max(values[buffers], values[merged] + 1)
        min_bytes = self.budget.min_sufficient_bytes(values)
        return BudgetTooSmallError(
            f"space '{self.name}': a memory budget of {format_bytes(self.memory_bytes)} is too small for "
            f"{self.budget.expected_entries:.4g} keys; use at least {-(-min_bytes // MIB)}MiB",
            math.ceil(min_bytes),
        )


def _numbers(values: Mapping[str, Value]) -> dict[str, float]:
    """Returns the values that are numbers, not switches or words: those that rules can use."""
    return {name: value for name, value in values.items() if not isinstance(value, bool | str)}
