"""What the linked RocksDB says of options; an engine asks it, and this package only says what it needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rocktune.importing.document import SubOption
from rocktune.importing.values import parts_of
from rocktune.space import OptionMaps


@dataclass(frozen=True)
class Examined:
    """What the linked RocksDB makes of options.

    Attributes:
        refused: options that it refuses, by section and name, each with the reason.
        misread: options whose value it reads as another one, each with that value.
        ignored: options whose names it knows and does not heed, each with the reason.
        parsed: every option, with the accepted ones in force.
        opened: the same, read back from an open store, where RocksDB has sanitised them; empty if the store
            did not open.
        open_error: why the store did not open; empty if it did.
    """

    refused: Mapping[str, Mapping[str, str]]
    misread: Mapping[str, Mapping[str, str]]
    ignored: Mapping[str, Mapping[str, str]]
    parsed: OptionMaps
    opened: OptionMaps
    open_error: str


Examiner = Callable[[OptionMaps], Examined]


@dataclass(frozen=True)
class LinkedRocksDb:
    """The RocksDB that will measure.

    Attributes:
        version: such as "7.8.3".
        defaults: every option that it writes down, by section, with its default.
        examine: asks it for what it makes of options.
    """

    version: str
    defaults: OptionMaps
    examine: Examiner

    def knows(self, section: str, name: str) -> bool:
        """Returns whether it writes an option of this name."""
        return name in self.defaults.get(section, {})

    def default(self, section: str, name: str) -> str:
        """Returns an option's default; empty for a name that it does not write."""
        return self.defaults.get(section, {}).get(name, "")

    def default_parts(self, section: str, name: str) -> dict[str, SubOption]:
        """Returns the settings that an option has by default, by name; none for a plain option."""
        return {part.name: part for part in parts_of(self.default(section, name))}
