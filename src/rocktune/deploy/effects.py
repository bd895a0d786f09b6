"""The effects of option changes on the data of a store. Data, not code."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class Effect:
    """The meaning of a change of one option.

    Attributes:
        option: section and name, such as "cf.num_levels".
        source: the header of RocksDB that says so.
        way: "rewrite" or "impossible" for an option that needs more than a reopening; empty otherwise.
        note: what it means; may be empty.
        new_files: True if only tables written from then on have the new value.
    """

    option: str
    source: str
    way: str = ""
    note: str = ""
    new_files: bool = False


@cache
def effects() -> dict[str, Effect]:
    """Returns the known effects by option."""
    text = resources.files("rocktune.deploy").joinpath("effects.toml").read_text(encoding="utf-8")
    return {fields["option"]: Effect(**fields) for fields in tomllib.loads(text)["effect"]}
