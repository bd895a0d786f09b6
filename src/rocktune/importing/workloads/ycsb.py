"""Workloads from YCSB's property files, for YCSB's CoreWorkload."""

import math
from collections.abc import Sequence
from pathlib import Path

from rocktune.errors import UserError
from rocktune.importing.systems.settings import Setting
from rocktune.importing.workloads.account import ImportedWorkload, Use
from rocktune.importing.workloads.properties import read_properties
from rocktune.importing.workloads.settings import INT_MAX, ReadSettings
from rocktune.importing.workloads.ycsb_other import tell_others
from rocktune.spec_file import validated
from rocktune.workload import WorkloadSpec
from rocktune.workload.arrival import ArrivalSpec
from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.loads import MAX_VALUE_BYTES, MixSpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec

_SAMPLE_RECORDS = 1000
"""The number of records in YCSB's own files, which its users override."""
_SKEW = 0.99
"""YCSB's Zipfian constant."""
_HASHED_KEY_BYTES = 23
"""Bytes of "user" and a hash of 19 digits."""
_SHARES = {
    "readproportion": ("get", 0.95),
    "updateproportion": ("put", 0.05),
    "insertproportion": ("insert", 0.0),
    "scanproportion": ("scan", 0.0),
    "readmodifywriteproportion": ("read_modify_write", 0.0),
}
"""Operation kind and YCSB's default of each proportion."""
# Java's Boolean.parseBoolean takes every other word for false; a typing mistake is better named.
_SWITCHES = {"true": True, "false": False}
_CLASSES = ("site.ycsb.workloads.CoreWorkload", "com.yahoo.ycsb.workloads.CoreWorkload", "core")
_EXPONENTIAL_RANGES = 100


def from_ycsb(path: Path, given: Sequence[str] = ()) -> ImportedWorkload:
    """Returns the workload of a YCSB property file.

    Args:
        path: the file.
        given: properties that override the file's, such as "recordcount=5000000"; YCSB's -p.

    Raises:
        UserError: the file cannot be read, is of another workload class than CoreWorkload, lacks the number
            of records, or has an invalid value; or a property of `given` is malformed.
    """
    settings = ReadSettings(str(path), [*read_properties(path), *map(_given_property, given)])
    _require_core(settings)
    keys, preload = _records(settings)
    document = {
        "name": path.stem or "ycsb",
        "keys": keys,
        "key_bytes": _key_bytes(settings, keys),
        "value": _value(settings),
        "threads": settings.whole("threadcount", 1, 1, 1024),
        "key_chooser": _key_chooser(settings, keys),
        "scan_length": _scan_length(settings),
        "sessions": (SessionSpec(mix=_mix(settings), arrival=_arrival(settings)),),
        "preload": preload,
    }
    spec = validated(WorkloadSpec, document, str(path))
    settings.used_as(f"threads = {spec.threads}", "threadcount")
    tell_others(settings)
    settings.assumed.append(
        f"Values compress to {spec.value_compressed_fraction:g} of their size; YCSB does not say it."
    )
    return ImportedWorkload(
        f"YCSB's {path.name}", spec, settings.entries(), tuple(settings.assumed), tuple(settings.warnings)
    )


def _given_property(text: str) -> Setting:
    """Returns the property of one -p."""
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        raise UserError(f"-p: '{text}' is no property; write NAME=VALUE, such as recordcount=5000000")
    return Setting(name.strip(), value.strip(), 0)


def _require_core(settings: ReadSettings) -> None:
    """Raises a UserError if the file is of another class than CoreWorkload."""
    if "workload" not in settings:
        settings.assumed.append("The workload's class is CoreWorkload; the file names no class.")
    name = settings.text("workload", _CLASSES[0]).strip()
    if name not in _CLASSES:
        raise settings.refused(
            "workload", "cannot be imported: only YCSB's CoreWorkload can; describe it as a workload file"
        )


def _records(settings: ReadSettings) -> tuple[int, PreloadSpec]:
    """Returns the number of keys, and the preload."""
    if "recordcount" not in settings:
        raise settings.refused("recordcount", "missing; give the store's records with -p recordcount=N")
    records = settings.whole("recordcount", 0, 1)
    if records == _SAMPLE_RECORDS:
        settings.warnings.append(
            f"recordcount={records} is the value of YCSB's sample files, and so few records fit into one "
            "memtable; give the store's with -p recordcount=N."
        )
    offset = settings.whole("insertstart", 0)
    keys = settings.whole("insertcount", max(0, records - offset))
    if keys < 1 or offset + keys > records:
        # YCSB ends here, too.
        name = "insertcount" if "insertcount" in settings else "insertstart"
        raise settings.refused(
            name, f"and insertstart, {offset}, do not leave a part of recordcount, {records}"
        )
    order = settings.choice("insertorder", "hashed", ("hashed", "ordered"))
    preload = PreloadSpec(keys=keys, random_order=order == "hashed")
    if keys == records:
        settings.used_as(f"keys = {keys}", "recordcount")
    else:
        # YCSB loads these records, and asks for these alone.
        settings.tell("recordcount", Use.TRANSLATED, f"keys = {keys}", "requests go to the inserted records")
    settings.used_as(f"preload.random_order = {str(preload.random_order).lower()}", "insertorder")
    settings.used_as(f"keys = {keys}", "insertcount")
    if offset:
        settings.tell("insertstart", Use.LEFT_OUT, why="keys are numbered from 0")
    elif "insertstart" in settings:
        settings.tell("insertstart", Use.WITHOUT_EFFECT, why="keys are numbered from 0")
    return keys, preload


def _key_bytes(settings: ReadSettings, keys: int) -> int:
    """Returns the bytes of a key: "user" and digits."""
    padding = settings.whole("zeropadding", 1, 0, 1000)
    hashed = settings.text("insertorder", "hashed") == "hashed"
    written = _HASHED_KEY_BYTES if hashed else 4 + len(str(keys - 1))
    size = max(8, written, 4 + padding)
    settings.used_as(f"key_bytes = {size}", "zeropadding")
    return size


def _value(settings: ReadSettings) -> SizeSpec:
    """Returns the sizes of values: those of all fields together."""
    fields = settings.whole("fieldcount", 10, 1, INT_MAX)
    max_bytes = settings.whole("fieldlength", 100, 1, INT_MAX)
    min_bytes = settings.whole("minfieldlength", 1, 0, INT_MAX)
    law = settings.text("fieldlengthdistribution", "constant")
    if fields * max_bytes > MAX_VALUE_BYTES:
        raise settings.refused("fieldlength", f"makes values larger than {MAX_VALUE_BYTES} bytes")
    names = ("fieldcount", "fieldlength", "fieldlengthdistribution", "minfieldlength")
    if law == "constant":
        settings.used_as(f"value = {fields * max_bytes}", *names[:3])
        settings.tell("minfieldlength", Use.WITHOUT_EFFECT, why="all fields have the same length")
        return SizeSpec(low=fields * max_bytes)
    if law not in ("uniform", "zipfian"):
        raise settings.refused(
            "fieldlengthdistribution", "cannot be imported; give the mean with "
            "-p fieldlengthdistribution=constant -p fieldlength=BYTES"
        )  # fmt: skip
    if min_bytes > max_bytes:
        raise settings.refused("minfieldlength", f"exceeds fieldlength, {max_bytes}")
    if law == "uniform":
        return _uniform_value(settings, names, fields, (min_bytes, max_bytes))
    mean = round(fields * _zipf_mean(min_bytes, max_bytes))
    for name in names:
        settings.tell(name, Use.TRANSLATED, f"value = {mean}", "all values have the mean size")
    return SizeSpec(low=mean)


def _uniform_value(
    settings: ReadSettings, names: tuple[str, ...], fields: int, bounds: tuple[int, int]
) -> SizeSpec:
    """Returns uniform sizes with mean and variance of the sum of uniform fields."""
    low, high = bounds
    half = math.sqrt(fields) * (high - low) / 2
    middle = fields * (low + high) / 2
    value = SizeSpec(kind="uniform", low=round(middle - half), high=round(middle + half))
    use = Use.USED if fields == 1 else Use.TRANSLATED
    why = "" if fields == 1 else "the sum of the fields' lengths is not uniform; mean and variance are kept"
    for name in names:
        settings.tell(name, use, f"value from {value.low} to {value.high}", why)
    return value


def _zipf_mean(low: int, high: int) -> float:
    """Returns the mean of YCSB's Zipf law over low .. high, whose first number is the most frequent."""
    # An integral stands for the tail, so that large ranges take no time.
    ranks = high - low + 1
    exact = min(ranks, 10_000)
    weight = math.fsum(rank**-_SKEW for rank in range(1, exact + 1))
    moment = math.fsum(rank ** (1 - _SKEW) for rank in range(1, exact + 1))
    if ranks > exact:
        begin, end = exact + 0.5, ranks + 0.5
        weight += (end ** (1 - _SKEW) - begin ** (1 - _SKEW)) / (1 - _SKEW)
        moment += (end ** (2 - _SKEW) - begin ** (2 - _SKEW)) / (2 - _SKEW)
    return low - 1 + moment / weight


def _key_chooser(settings: ReadSettings, keys: int) -> KeyChooserSpec:
    """Returns the distribution of the keys."""
    name = "requestdistribution"
    law = settings.choice(
        name, "uniform", ("uniform", "zipfian", "latest", "hotspot", "exponential", "sequential")
    )
    if law == "zipfian":
        settings.used_as(f"key_chooser of kind scrambled_zipfian, skew {_SKEW}", name)
        return KeyChooserSpec(kind="scrambled_zipfian", skew=_SKEW)
    if law == "latest":
        settings.used_as(f"key_chooser of kind latest, skew {_SKEW}", name)
        return KeyChooserSpec(kind="latest", skew=_SKEW)
    if law == "hotspot":
        chooser = KeyChooserSpec(
            kind="hotspot",
            hot_key_share=settings.number("hotspotdatafraction", 0.2, 1e-12, 1),
            hot_operation_share=settings.number("hotspotopnfraction", 0.8, 0, 1),
        )
        settings.used_as("key_chooser of kind hotspot", name, "hotspotdatafraction", "hotspotopnfraction")
        return chooser
    if law == "exponential":
        return _exponential(settings, keys)
    if law == "sequential":
        why = "keys are drawn at random; YCSB passes through all in order, which caches hold less well"
        settings.tell(name, Use.TRANSLATED, "key_chooser of kind uniform", why)
        return KeyChooserSpec()
    settings.used_as("key_chooser of kind uniform", name)
    return KeyChooserSpec()


def _exponential(settings: ReadSettings, keys: int) -> KeyChooserSpec:
    """Returns YCSB's exponential law as weights of ranges of keys."""
    percentile = settings.number("exponential.percentile", 95, 1e-6, 100 - 1e-6)
    share = settings.number("exponential.frac", 0.8571428571, 1e-9, 1e9)
    ranges = min(keys, _EXPONENTIAL_RANGES)
    # `percentile` per cent of the operations access the first `share` of the keys.
    decay = math.log(1 - percentile / 100) / (share * ranges)
    for name in ("requestdistribution", "exponential.percentile", "exponential.frac"):
        why = f"{ranges} ranges of keys in random order have these weights; in YCSB newer keys are hotter"
        settings.tell(name, Use.TRANSLATED, "key_chooser of kind two_term_exponential", why)
    return KeyChooserSpec(kind="two_term_exponential", range_a=1.0, range_b=decay, ranges=ranges)


def _scan_length(settings: ReadSettings) -> SizeSpec:
    """Returns the lengths of scans."""
    max_entries = settings.whole("maxscanlength", 1000, 1)
    min_entries = settings.whole("minscanlength", 1, 0)
    law = settings.choice("scanlengthdistribution", "uniform", ("uniform", "zipfian"))
    names = ("maxscanlength", "minscanlength", "scanlengthdistribution")
    if min_entries > max_entries:
        raise settings.refused("minscanlength", f"exceeds maxscanlength, {max_entries}")
    if settings.number("scanproportion", 0, 0) == 0:
        for name in names:
            settings.tell(name, Use.WITHOUT_EFFECT, why="there are no scans")
        return SizeSpec(low=100)
    if law == "uniform":
        settings.used_as(f"scan_length from {min_entries} to {max_entries}", *names)
        return SizeSpec(kind="uniform", low=min_entries, high=max_entries)
    mean = max(1, round(_zipf_mean(min_entries, max_entries)))
    for name in names:
        settings.tell(name, Use.TRANSLATED, f"scan_length = {mean}", "all scans have the mean length")
    return SizeSpec(low=mean)


def _mix(settings: ReadSettings) -> MixSpec:
    """Returns the shares of the operations."""
    weights = {name: settings.number(name, default, 0) for name, (_, default) in _SHARES.items()}
    total = sum(weights.values())
    if not 0 < total < math.inf:
        raise settings.refused("readproportion", "all proportions are 0; one operation needs a share")
    whole = abs(total - 1) <= 1e-9
    shares = {_SHARES[name][0]: weight / total for name, weight in weights.items()}
    for name in weights:
        kind = _SHARES[name][0]
        becomes = f"mix.{kind} = {shares[kind]:.6g}"
        if not whole:
            settings.tell(name, Use.TRANSLATED, becomes, f"the proportions sum to {total:.6g}")
        elif name == "updateproportion" and weights[name]:
            why = "an update writes a whole value, without a read before it"
            settings.tell(name, Use.TRANSLATED, becomes, why)
        else:
            settings.used_as(becomes, name)
    for name in weights:
        if weights[name] and name not in settings:
            settings.assumed.append(f"{name}={weights[name]:g}, YCSB's default; the file does not give it.")
    return MixSpec(**shares)


def _arrival(settings: ReadSettings) -> ArrivalSpec:
    """Returns the arrival of the operations: YCSB's target rate, else a closed loop."""
    rate = settings.number("target", 0, 0, INT_MAX)
    if rate == 0:
        settings.tell("target", Use.WITHOUT_EFFECT, why="0 stands for no target")
        return ArrivalSpec()
    why = "operations arrive at this rate even if the store falls behind"
    settings.tell("target", Use.TRANSLATED, f"arrival of kind fixed_rate, operations_s = {rate:g}", why)
    return ArrivalSpec(kind="fixed_rate", operations_s=rate)
