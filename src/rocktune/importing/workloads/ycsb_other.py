"""Properties of YCSB that do not reach a workload, each with the reason."""

import difflib

from rocktune.importing.workloads.account import Use
from rocktune.importing.workloads.settings import ReadSettings

_LENGTH = "a study has a length of its own"
_REPORTS = "it concerns YCSB's reports"
_RETRIES = "operations are not repeated"
_WITHOUT_EFFECT = {
    "operationcount": _LENGTH,
    "maxexecutiontime": _LENGTH,
    "exporter": _REPORTS,
    "exportfile": _REPORTS,
    "status": _REPORTS,
    "status.interval": _REPORTS,
    "s": _REPORTS,
    "label": _REPORTS,
    "measurementtype": _REPORTS,
    "measurement.trackjvm": _REPORTS,
    "measurement.interval": _REPORTS,
    "histogram.buckets": _REPORTS,
    "fieldnameprefix": "values are bytes without fields",
    "readallfieldsbyname": "a lookup reads the whole value",
    "db": "rocktune measures RocksDB",
    "table": "the workload has one column family",
    "fieldlengthhistogram": "fieldlengthdistribution is not histogram",
    "hotspotdatafraction": "requestdistribution is not hotspot",
    "hotspotopnfraction": "requestdistribution is not hotspot",
    "exponential.percentile": "requestdistribution is not exponential",
    "exponential.frac": "requestdistribution is not exponential",
    "randomseed": "rocktune draws from seeds of its own",
}
_LEFT_OUT = {
    "dataintegrity": "values are random bytes; they are not checked",
    "core_workload_insertion_retry_limit": _RETRIES,
    "core_workload_insertion_retry_interval": _RETRIES,
    "insertionretrylimit": _RETRIES,
    "insertionretryinterval": _RETRIES,
    "rocksdb.optionsfile": "name that file itself with --options-file",
    "rocksdb.dir": "rocktune makes stores of its own",
}
_PREFIXES = {"hdrhistogram.": _REPORTS, "timeseries.": _REPORTS}
_CORE = (
    "workload", "recordcount", "insertstart", "insertcount", "insertorder", "zeropadding", "fieldcount",
    "fieldlength", "minfieldlength", "fieldlengthdistribution", "readallfields", "writeallfields",
    "readproportion", "updateproportion", "insertproportion", "scanproportion", "readmodifywriteproportion",
    "requestdistribution", "maxscanlength", "minscanlength", "scanlengthdistribution", "threadcount",
    "target", "dotransactions",
)  # fmt: skip


def tell_others(settings: ReadSettings) -> None:
    """States the use of each property that the workload was not made from."""
    _tell_core(settings)
    for setting in settings.unread:
        name = setting.name
        prefixed = next((why for prefix, why in _PREFIXES.items() if name.startswith(prefix)), None)
        without_effect = _WITHOUT_EFFECT.get(name, prefixed)
        if without_effect is not None:
            settings.tell(name, Use.WITHOUT_EFFECT, why=without_effect)
        elif name in _LEFT_OUT:
            settings.tell(name, Use.LEFT_OUT, why=_LEFT_OUT[name])
        else:
            settings.tell(name, Use.LEFT_OUT, why=_unknown(settings, name))


def _tell_core(settings: ReadSettings) -> None:
    """States the use of CoreWorkload's properties that only part of its operations depend on."""
    words = {"true": True, "false": False}
    if not settings.switch("readallfields", True, words):
        why = "a lookup reads the whole value; YCSB asks for one field"
        settings.tell("readallfields", Use.TRANSLATED, why=why)
    if settings.switch("writeallfields", False, words):
        settings.tell("writeallfields", Use.USED, "puts of whole values")
    else:
        why = "a put writes the whole value; YCSB changes one field"
        settings.tell("writeallfields", Use.TRANSLATED, "puts of whole values", why)
    if not settings.switch("dotransactions", True, words):
        why = "the phase that loads the store is the preload; the operations are those of the other phase"
        settings.tell("dotransactions", Use.LEFT_OUT, why=why)


def _unknown(settings: ReadSettings, name: str) -> str:
    """Returns why an unknown property is left out, and warns of one that looks like a typing mistake."""
    known = (*_CORE, *_WITHOUT_EFFECT, *_LEFT_OUT)
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
    if nearest:
        settings.warnings.append(f"'{name}' is no property of YCSB: did you mean '{nearest[0]}'?")
        return f"YCSB does not know it; did you mean '{nearest[0]}'?"
    if "." in name:
        return "it belongs to another part of YCSB, such as the binding to a database"
    return "CoreWorkload does not know it"
