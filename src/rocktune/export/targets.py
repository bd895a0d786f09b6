"""All export targets: one file for each, and one line in the table below."""

import re
from dataclasses import replace

from rocktune.errors import UserError, unknown_name
from rocktune.export import (
    cassandra,
    cpp,
    db_bench,
    flink,
    java,
    kafka_streams,
    kvrocks,
    myrocks,
    options_file,
    tikv,
)
from rocktune.export.target import Found
from rocktune.ledger import StudyRecord
from rocktune.outcome import Outcome
from rocktune.space import OptionMaps, is_block_cache, merged_options, parse_block_cache, section_kind
from rocktune.space.options import OWN_SECTIONS
from rocktune.space.options_file import family_names
from rocktune.systems.values import NotExpressibleError

_TARGETS = {
    target.name: target
    for target in (
        options_file.TARGET,
        db_bench.TARGET,
        cpp.TARGET,
        java.TARGET,
        kafka_streams.TARGET,
        flink.TARGET,
        myrocks.TARGET,
        tikv.TARGET,
        kvrocks.TARGET,
        cassandra.TARGET,
    )
}


def export_targets() -> dict[str, str]:
    """Returns one line about each target, by name."""
    return {name: target.summary for name, target in _TARGETS.items()}


def export_study(target: str, study: StudyRecord, outcome: Outcome, point: int | None = None) -> str:
    """Returns a finished study's configuration in a target's format, at full size.

    Args:
        target: one of `export_targets`.
        study: record of the study.
        outcome: outcome of the study.
        point: number of a point of the front, from 1; None for the recommended configuration.

    Raises:
        UserError: the target is unknown, the point does not exist, the study has nothing to export, or the
            target cannot express the configuration.
    """
    if target not in _TARGETS:
        raise unknown_name("export target", target, _TARGETS)
    # A point of the front is not proven, so its comment says what was measured instead of a ratio.
    options, comment = _chosen(study, outcome) if point is None else _point(study, outcome, point)
    comment = (*comment, *_beside(options))
    if not _TARGETS[target].holds_cache_settings:
        options, notes = _plain_cache(options)
        comment = (*comment, *notes)
    found = Found(options, comment, _rocksdb_version(study), study)
    if not _TARGETS[target].holds_families:
        found = _of_one_family(found, target)
    try:
        return _TARGETS[target].write(found)
    except NotExpressibleError as error:
        raise UserError(f"study '{study.name}' cannot be exported to {target}: {error}") from None


def _of_one_family(found: Found, target: str) -> Found:
    """Returns a configuration without the options of column families that are not tuned.

    Raises:
        UserError: the study tuned several families together.
    """
    others = family_names(found.options)
    if not others:
        return found
    if not found.options.get("cf"):
        holding = ", ".join(name for name, each in _TARGETS.items() if each.holds_families)
        raise UserError(
            f"{target}: holds the options of one column family, and study '{found.study.name}' tuned "
            f"{', '.join(others)} together; export it to one of {holding}"
        )
    options = {section: texts for section, texts in found.options.items() if ":" not in section}
    note = f"Options of column family '{found.family}'; those of {', '.join(others)} stay as they are"
    return replace(found, options=options, comment=(*found.comment, note))


def _beside(options: OptionMaps) -> tuple[str, ...]:
    """Returns a note for each part of rocktune, a governor or FLSM store, that the application must link."""
    return tuple(
        f"Needs rocktune's {what}, which your program must link: "
        + ", ".join(f"{name}={text}" for name, text in options[section].items())
        for section, what in OWN_SECTIONS.items()
        if options.get(section)
    )


def _plain_cache(options: OptionMaps) -> tuple[OptionMaps, tuple[str, ...]]:
    """Returns the options with only the capacities of block caches, and notes of their kinds and settings."""
    plain, notes = options, list[str]()
    for section, texts in options.items():
        text = texts.get("block_cache", "")
        if section_kind(section) != "table" or not is_block_cache(text):
            continue
        cache = parse_block_cache(text)
        lost = [f"kind={cache.kind}"] if cache.kind != "lru" else []
        lost += map("=".join, cache.settings)
        if lost:
            plain = merged_options(plain, {section: {"block_cache": str(cache.capacity_bytes)}})
            notes.append(f"The block cache was measured with {', '.join(lost)}")
    # Column families may have equal ones.
    return plain, tuple(dict.fromkeys(notes))


def _rocksdb_version(study: StudyRecord) -> str:
    """Returns the measured RocksDB's version in three numbers; db_bench may report two.

    Raises:
        UserError: the engine's version names no RocksDB.
    """
    version = re.search(r"RocksDB (\d+\.\d+)(\.\d+)?", study.engine_version)
    if version is None:
        raise UserError(
            f"study '{study.name}': its engine did not report a RocksDB version, which exports need"
        )
    # OPTIONS files state the version in three numbers.
    return version[1] + (version[2] or ".0")


def _chosen(study: StudyRecord, outcome: Outcome) -> tuple[OptionMaps, tuple[str, ...]]:
    """Returns the options of the recommended configuration, with comments."""
    side = outcome.sides.get(outcome.recommended)
    if side is None:
        raise UserError(f"study '{study.name}' has no configuration to export")
    what = (
        "the tuned configuration"
        if outcome.recommended == "best"
        else "the baseline, because no gain over it was proven"
    )
    return side.options, (
        f"rocktune study '{study.name}': {what}",
        f"Tuned against baseline, {outcome.objective}: {_proof(outcome)}",
        _measured_with(study),
    )


def _point(study: StudyRecord, outcome: Outcome, point: int) -> tuple[OptionMaps, tuple[str, ...]]:
    """Returns the options of one point of the front, with comments."""
    front = outcome.front
    if not front:
        raise UserError(f"study '{study.name}' has no front, because it has one objective; leave --point out")
    if not 1 <= point <= len(front):
        raise UserError(f"point: {point} does not exist; the front has 1 to {len(front)}")
    chosen = front[point - 1]
    figures = (f"{name} {value:.4g}" for name, value in chosen.figures.items() if value is not None)
    return chosen.options, (
        f"rocktune study '{study.name}': point {point} of {len(front)} of the Pareto front",
        f"It measured {', '.join(figures)}, {_where(outcome.search_scale)}",
        _measured_with(study),
    )


def _measured_with(study: StudyRecord) -> str:
    """Returns the comment line that names the engine and says that values are full size."""
    return f"Measured with {study.engine_version}; the values here are for full size"


def _where(scale: str | None) -> str:
    """Returns a scale in words: "at full size", "on a 1/64 model"."""
    return "at full size" if scale == "1" else f"on a {scale} model"


def _proof(outcome: Outcome) -> str:
    """Returns the ratio with its 95% interval and its scale in words."""
    value, low, high = outcome.ratio.value, outcome.ratio.low, outcome.ratio.high
    if value is None:
        return "not measured"
    interval = (
        f"95% interval {low:.3f} to {high:.3f}" if low is not None and high is not None else "no interval"
    )
    if outcome.recommended == "best":
        return f"{value:.3f} times better ({interval}), proven {_where(outcome.verified_at_scale)}"
    return f"a ratio of {value:.3f} ({interval}), not proven better {_where(outcome.verified_at_scale)}"
