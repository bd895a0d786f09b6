"""The answers about options that this package needs from the linked RocksDB; an engine obtains them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rocktune.importing.document import SubOption
from rocktune.importing.values import parts_of
from rocktune.space import OptionMaps


@dataclass(frozen=True)
class Examined:
    """The linked RocksDB's answer about a set of options.

    Attributes:
        refused: options that RocksDB refuses, by section and name, each with the reason.
        misread: options whose value RocksDB parses as another one, each with that value.
        ignored: options that RocksDB knows by name but does not use, each with the reason.
        parsed: values of all options if the accepted ones are set.
        opened: values of all options read back from an open store, after RocksDB has sanitised them; empty if
            the store did not open.
        open_error: RocksDB's error if the store did not open; empty if it did.
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
        version: version, such as "7.8.3".
        defaults: default of every option that RocksDB can serialise, by section and name.
        examine: returns RocksDB's answer about a set of options.
    """

    version: str
    defaults: OptionMaps
    examine: Examiner

    def knows(self, section: str, name: str) -> bool:
        """Returns whether RocksDB can serialise an option of this name."""
        return name in self.defaults.get(section, {})

    def default(self, section: str, name: str) -> str:
        """Returns an option's default; empty for an option that RocksDB cannot serialise."""
        return self.defaults.get(section, {}).get(name, "")

    def default_parts(self, section: str, name: str) -> dict[str, SubOption]:
        """Returns the default settings inside an option by name; empty for a plain option."""
        return {part.name: part for part in parts_of(self.default(section, name))}
