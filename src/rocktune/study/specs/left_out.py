"""Finds what a study leaves out of its space: what its RocksDB lacks or its workload has no use for."""

from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from rocktune.engine import EmbeddedSpec, EngineSpec, OptionsChecker
from rocktune.engine.libraries import worker_with
from rocktune.space import FIFO, Knob, OptionMaps, Space, section_kind
from rocktune.units import format_bytes
from rocktune.workload import WorkloadSpec

_COMPRESSIONS = ("compression", "bottommost_compression", "blob_compression_type")
_NO_LIBRARY = "kDisableCompressionOption"
"""The choice of these knobs that needs no library: it means the compression of the other levels."""
BLOB_KNOB = "enable_blob_files"
_BLOB_THRESHOLD = "min_blob_size"
_PERIODIC = "periodic_compaction_seconds"
_STYLE = "compaction_style"
_COLLECTOR = "CompactOnDeletionCollectorFactory"
"""It marks tables with many tombstones for compaction; an application has to set it in its own code."""


def left_out_of(space: Space, engine: EngineSpec, workload: WorkloadSpec) -> dict[str, str]:
    """Returns the knobs and values that are of no use in a study, each with the reason.

    Starts a worker if the space has knobs or values that depend on the RocksDB.

    Args:
        space: the study's space.
        engine: the engine that measures.
        workload: the workload at full size.

    Raises:
        UserError: there is no worker for the engine.
    """
    return _unsupported(space, engine) | _without_use(space, workload) | _inexpressible(space, workload)


def _unsupported(space: Space, engine: EngineSpec) -> dict[str, str]:
    """Returns the knobs and compressions that the engine's RocksDB lacks, as far as that is known."""
    newer = {knob.plain_name: knob for knob in space.knobs if knob.since}
    compressions = {
        str(choice) for knob in space.knobs if knob.plain_name in _COMPRESSIONS for choice in knob.choices
    } - {_NO_LIBRARY}
    if not newer and not compressions:
        return {}
    if not isinstance(engine, EmbeddedSpec):
        return {
            name: f"the RocksDB of engine {engine.kind} may be older than {knob.since}"
            for name, knob in newer.items()
        }
    with closing(OptionsChecker(worker_with(engine.rocksdb))) as checker:
        options = checker.effective({})
        lacking = [name for name, knob in newer.items() if not _has(options, knob)]
        lacking += sorted(compressions - {*checker.compressions})
        return dict.fromkeys(lacking, f"not in RocksDB {checker.rocksdb_version}")


def _has(options: OptionMaps, knob: Knob) -> bool:
    """Returns whether options that a RocksDB reports contain a knob's."""
    text = options.get(section_kind(knob.section), {}).get(knob.option_name)
    return text is not None and knob.decides(text)


def _without_use(space: Space, workload: WorkloadSpec) -> dict[str, str]:
    """Returns the knob of blob files if all values are smaller than the space's lowest threshold."""
    knobs = {knob.plain_name: knob for knob in space.knobs}
    if BLOB_KNOB not in knobs or _BLOB_THRESHOLD not in knobs:
        return {}
    threshold = knobs[_BLOB_THRESHOLD]
    min_bytes = min(int(each) for each in threshold.choices or (threshold.low,))
    max_bytes = max(
        max(load.value.low, load.value.high)
        for session in workload.sessions
        for load in workload.loads(session)
    )
    if max_bytes >= min_bytes:
        return {}
    return {BLOB_KNOB: f"values have at most {format_bytes(max_bytes)}"}


def style_left_out(space: Space, base_options: OptionMaps) -> dict[str, str]:
    """Returns the knobs of compactions if the user's own store drops data, each with the reason.

    A configuration with another style would keep what the baseline drops, and their figures do not compare.

    Args:
        space: the study's space.
        base_options: the options of the user's file at full size.
    """
    styles = [texts.get(_STYLE) for name, texts in base_options.items() if section_kind(name) == "cf"]
    if FIFO not in styles or all(knob.plain_name != _STYLE for knob in space.knobs):
        return {}
    reason = f"the OPTIONS file has {_STYLE}={FIFO}, which drops data that other styles keep"
    names = [
        knob.plain_name
        for knob in space.knobs
        if knob.plain_name == _STYLE or any(each.parent == _STYLE for each in knob.when)
    ]
    return dict.fromkeys(names, reason)


def _inexpressible(space: Space, workload: WorkloadSpec) -> dict[str, str]:
    """Returns what helps a workload that deletes and no configuration can hold."""
    if not workload.deletes or not any(knob.option_name == _PERIODIC for knob in space.knobs):
        return {}
    return {_COLLECTOR: "an OPTIONS file cannot carry it"}


def left_out_sentences(document: Mapping[str, Any]) -> list[str]:
    """Returns a sentence for the user on what was left out of the space that a document describes.

    Args:
        document: see `rocktune.space.space_document`.

    Returns:
        One sentence; empty if nothing was left out.
    """
    names = defaultdict(list)
    for name, reason in document.get("left_out", {}).items():
        names[reason].append(name)
    if not names:
        return []
    named = "; ".join(f"{', '.join(each)} ({reason})" for reason, each in names.items())
    return [f"Left out of space '{document['name']}': {named}."]
