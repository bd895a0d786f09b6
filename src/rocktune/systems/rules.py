"""Rules that relate RocksDB's options to another system's settings."""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

from rocktune.systems.values import Writer

Settings = dict[str, str]
Rule = Callable[[str], Settings]
"""Returns the system's settings for an option's text; raises NotExpressibleError if it has none."""

UNCHANGED = MappingProxyType({"allow_mmap_reads": "false", "target_file_size_multiplier": "1"})
"""RocksDB's own values of options that most systems neither change nor have a setting for."""


@dataclass(frozen=True)
class Named:
    """The rule of an option that corresponds to one setting.

    Attributes:
        name: name of the setting.
        writer: notation of its values; a codec if the setting can be read, too.
    """

    name: str
    writer: Writer

    def __call__(self, text: str) -> Settings:
        """Returns the setting for an option's text."""
        return {self.name: self.writer(text)}


def named(name: str, writer: Writer) -> Rule:
    """Returns the rule of an option that corresponds to one setting."""
    return Named(name, writer)
