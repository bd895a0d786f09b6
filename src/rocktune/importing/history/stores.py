"""What the first open by a newer RocksDB does to a store's data. Data, not code."""

from dataclasses import dataclass
from functools import cache

from rocktune.importing.history.data import toml_data


@dataclass(frozen=True)
class StoreChange:
    """An effect of an upgrade on the data of a store.

    Attributes:
        effect: what the first open, or what follows it, does to the data.
        source: where RocksDB says so.
        back: what it means for a return to the older release; may be empty.
        option: section and name of the option that causes it; empty for any store.
        value: the value that the option gets by the upgrade.
        where: another option's value that has to hold, such as "cf.compaction_style=kCompactionStyleLevel";
            empty for no condition.
        since: release line from which it holds; empty with an option.
    """

    effect: str
    source: str
    back: str = ""
    option: str = ""
    value: str = ""
    where: str = ""
    since: str = ""


@cache
def store_changes() -> tuple[StoreChange, ...]:
    """Returns all effects, in the order of the file."""
    return tuple(StoreChange(**fields) for fields in toml_data("stores.toml")["change"])
