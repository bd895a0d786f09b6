"""Spaces: knobs, the rules between them, memory budgets, and RocksDB options as text."""

from rocktune.space.block_cache import BlockCache, is_block_cache, parse_block_cache
from rocktune.space.catalogue import CATALOGUE
from rocktune.space.configuration import Configuration, OptionMaps, Value, family_section, section_kind
from rocktune.space.dremel import dremel_space
from rocktune.space.knob import Condition, Knob
from rocktune.space.memory import FamilyEntries, MemoryShares
from rocktune.space.nearest import Nearest, nearest_configuration
from rocktune.space.options import FIFO, merged_options, scaled_options
from rocktune.space.options_file import options_file_text
from rocktune.space.space import Space
from rocktune.space.space_file import (
    load_space,
    space_document,
    space_from_document,
    space_names,
    with_deletes,
)

__all__ = [
    "CATALOGUE",
    "FIFO",
    "BlockCache",
    "Condition",
    "Configuration",
    "FamilyEntries",
    "Knob",
    "MemoryShares",
    "Nearest",
    "OptionMaps",
    "Space",
    "Value",
    "dremel_space",
    "family_section",
    "is_block_cache",
    "load_space",
    "merged_options",
    "nearest_configuration",
    "options_file_text",
    "parse_block_cache",
    "scaled_options",
    "section_kind",
    "space_document",
    "space_from_document",
    "space_names",
    "with_deletes",
]
