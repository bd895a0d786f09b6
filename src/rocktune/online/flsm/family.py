"""A column family of an FLSM store, as it is opened or created."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from rocktune.errors import UserError
from rocktune.online.flsm.layout import SAMPLE_EVERY, Filters, Granularity, flsm_layout
from rocktune.trial import OptionMaps

DEFAULT_FAMILY = "default"
"""RocksDB's name of the column family that every database has."""


@dataclass(frozen=True, kw_only=True)
class FlsmFamily:
    """A column family of an `FlsmStore`: a tree with layout, policies and options of its own.

    The attributes are arguments of `FlsmStore`, which explains them. The store has as many compaction threads
    as the family with the most `workers`. `options` has the sections "cf" and "table"; what is not given has
    RocksDB's default, not the default family's value.
    """

    policies: str | Sequence[int] = "aggressive"
    size_ratio: int | None = None
    level1_bytes: int = 0
    levels: int | None = None
    filters: Filters = "uniform"
    bits_per_key: float = 8.0
    granularity: Granularity = "levels"
    level0_runs: int = 10
    workers: int = 3
    sample_every: int = SAMPLE_EVERY
    reshape_bytes_per_s: int = 0
    max_merge_bytes: int = 0
    options: OptionMaps | None = None

    def native(self, name: str) -> tuple[str, str, str]:
        """Returns the family as the extension takes it: its name, layout and options.

        Raises:
            UserError: an argument is unknown, or the options have a section that a family cannot have.
        """
        options = self.options or {}
        allowed = {"cf", "table"} | ({"db"} if name == DEFAULT_FAMILY else set())
        for section in options:
            if section not in allowed:
                raise UserError(f"family {name}: options: {section!r} is not one of {sorted(allowed)}")
        layout = flsm_layout(
            policies=self.policies, size_ratio=self.size_ratio, level1_bytes=self.level1_bytes,
            levels=self.levels, filters=self.filters, bits_per_key=self.bits_per_key,
            granularity=self.granularity, level0_runs=self.level0_runs, workers=self.workers,
            sample_every=self.sample_every, reshape_bytes_per_s=self.reshape_bytes_per_s,
            max_merge_bytes=self.max_merge_bytes,
        )  # fmt: skip
        return name, layout, json.dumps(options)
