"""Configurations (values for a space's knobs) and RocksDB options as text."""

import json
from collections.abc import Iterator, Mapping
from functools import cached_property

Value = int | float | str | bool
OptionMaps = dict[str, dict[str, str]]
"""RocksDB options as text by section ("db", "cf", "table") and name. A column family's own are in "cf:NAME"
and "table:NAME". A store with a compaction governor has a section "governor", an FLSM store a section "flsm"
(see docs/design/worker-protocol.md)."""


def family_section(section: str, family: str) -> str:
    """Returns the section of a column family's own options: "cf:users" for "cf" and "users"."""
    return f"{section}:{family}"


def section_kind(section: str) -> str:
    """Returns "cf" for "cf" and for "cf:users", and so on for other sections."""
    return section.partition(":")[0]


class Configuration(Mapping[str, Value]):
    """An immutable, hashable mapping from knob names to values at full size, whatever the scale of the run.

    Equal configurations have equal `key`s, on any machine and in any process.
    """

    def __init__(self, values: Mapping[str, Value]) -> None:
        # Sorted, so that the key does not depend on the order in which a tuner sets the knobs.
        self._values = dict(sorted(values.items()))

    @cached_property
    def key(self) -> str:
        """The values as a JSON object, ordered by knob name."""
        # Cached and not made in the constructor, because a search draws many more than it measures.
        return json.dumps(self._values, separators=(",", ":"))

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __eq__(self, other: object) -> bool:
        # Python takes 1, 1.0 and True for equal; their keys differ.
        return isinstance(other, Configuration) and self._values == other._values and self.key == other.key

    def __repr__(self) -> str:
        return f"Configuration({self._values})"

    def replaced(self, changes: Mapping[str, Value]) -> "Configuration":
        """Returns a copy with the values in `changes` replaced or added."""
        return Configuration({**self._values, **changes})
