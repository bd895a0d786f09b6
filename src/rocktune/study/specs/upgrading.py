"""Makes the specification of an upgrade's proof from a request, and checks all that needs no measuring."""

from dataclasses import dataclass

from rocktune.engine import VersionsSpec
from rocktune.engine.spec import FULL_LENGTH_S
from rocktune.errors import UserError
from rocktune.importing import ImportedOptions
from rocktune.space import OptionMaps, merged_options
from rocktune.study.specs.request import StudyRequest, require_workload
from rocktune.study.specs.resolving import conditions_of, named
from rocktune.study.specs.spec import MAX_PAIRS, UpgradeSpec
from rocktune.units import parse_seconds
from rocktune.workload import load_workload_of_one_family


@dataclass(frozen=True)
class HowToUpgrade:
    """The versions and the file of an upgrade, and how it is proven.

    Attributes:
        from_version: the older version that the user means.
        to_version: the newer version that the user means.
        rocksdb: the versions that measure, the older one first.
        old: the OPTIONS file as the older one reads it.
        new: the OPTIONS file as the newer one reads it.
        pairs: number of runs of each version.
        seconds: length of each run, such as "10s"; by default 120 s at full size.
    """

    from_version: str
    to_version: str
    rocksdb: tuple[str, str]
    old: ImportedOptions
    new: ImportedOptions
    pairs: int
    seconds: str | float | None = None


def resolve_upgrade(request: StudyRequest, name: str, how: HowToUpgrade) -> UpgradeSpec:
    """Returns the proof of an upgrade that a request describes. Its engine, tuner and objective are ignored.

    Args:
        request: the user's request.
        name: name of the upgrade.
        how: the versions and the file.

    Raises:
        UserError: names the first mistake in the request.
    """
    if not 2 <= how.pairs <= MAX_PAIRS:
        raise UserError(f"pairs: {how.pairs} must be from 2 to {MAX_PAIRS}, because one pair has no interval")
    load_workload_of_one_family(require_workload(request.workload), "upgrade")
    engine = VersionsSpec(rocksdb=how.rocksdb)
    conditions = named(name) | conditions_of(request, engine, lambda _loaded: how.old, "short")
    full_size_s = FULL_LENGTH_S / engine.time_scale(conditions["scale"])
    return UpgradeSpec(
        **conditions,
        from_version=how.from_version,
        to_version=how.to_version,
        new_options=_with_cache_of(conditions["base_options"], how.new.options),
        pairs=how.pairs,
        measured_s=full_size_s if how.seconds is None else parse_seconds(how.seconds, "seconds"),
    )


def _with_cache_of(source: OptionMaps, options: OptionMaps) -> OptionMaps:
    """Returns options with the block cache of others."""
    cache = {name: text for name, text in source["table"].items() if name == "block_cache"}
    kept = {name: text for name, text in options["table"].items() if name != "block_cache"}
    return merged_options({**options, "table": kept}, {"table": cache})
