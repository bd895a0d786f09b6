"""The configurations that a proof compares, with their memory and figures."""

from pydantic import ConfigDict, Field

from rocktune.outcome.recorded import NOT_MEASURED, Interval, Recorded
from rocktune.space import OptionMaps
from rocktune.space.configuration import Value


class CacheShare(Recorded):
    """The block cache of a configuration, at full size.

    Attributes:
        kind: "lru" or "hyper_clock".
        capacity_bytes: capacity in bytes.
        settings: explicit settings by name, as text; RocksDB chooses the others.
    """

    kind: str
    capacity_bytes: int
    settings: dict[str, str]


class Memory(Recorded):
    """The memory that a configuration may use, in bytes at full size.

    Attributes:
        memtable_bytes: all memtables together.
        filter_bytes: the filters of all expected keys.
        block_cache: the block cache; null if the store has none.
        total_bytes: the sum of memtables, filters and block cache.
    """

    memtable_bytes: int
    filter_bytes: int
    block_cache: CacheShare | None
    total_bytes: int


class Side(Recorded):
    """One of the configurations that a proof compares. Further fields are figures, each with its interval.

    The figures are those that every proof shows, and the fields of objectives and constraints.

    Attributes:
        configuration: values of the study's knobs, by knob.
        options: RocksDB's options as text, by section, at full size.
        memory: the memory that it may use; null for RocksDB's own defaults, which name no cache.
        keeps_constraints: whether the means of its runs keep all constraints.
        failures: status and message of each failed run.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Interval] = Field(init=False)

    configuration: dict[str, Value]
    options: OptionMaps
    memory: Memory | None = None
    keeps_constraints: bool = True
    failures: tuple[str, ...] = ()

    def figure(self, field: str) -> Interval:
        """Returns a figure by its field; `NOT_MEASURED` if the side does not have it."""
        return self.__pydantic_extra__.get(field, NOT_MEASURED)


class Baseline(Side):
    """The configuration to beat, a side of the proof. Further fields are figures, each with its interval.

    Attributes:
        source: origin of the configuration: "options_file", "tuning_guide" or "space_default".
    """

    source: str
