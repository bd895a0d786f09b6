"""What a configuration is: values for the active knobs of a space, and RocksDB options as text."""

import json
from collections.abc import Iterator, Mapping
from functools import cached_property

Value = int | float | str | bool
OptionMaps = dict[str, dict[str, str]]
"""RocksDB options as text by section: "db", "cf", "table", and "governor" where there is one (see
docs/design/worker-protocol.md)."""


class Configuration(Mapping[str, Value]):
    """An immutable, hashable choice of values for active knobs, in full-size units whatever the scale.

    Equal configurations have equal `key`s, on any machine and in any process.
    """

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = dict(sorted(values.items()))

    @cached_property
    def key(self) -> str:
        """The values as JSON. Made when it is asked for: searches draw many more than they measure."""
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
        # The key tells 1 from 1.0 and true, which are equal to Python.
        return isinstance(other, Configuration) and self._values == other._values and self.key == other.key

    def __repr__(self) -> str:
        return f"Configuration({self._values})"

    def replaced(self, changes: Mapping[str, Value]) -> "Configuration":
        """Returns this configuration with some values replaced or added."""
        return Configuration({**self._values, **changes})
