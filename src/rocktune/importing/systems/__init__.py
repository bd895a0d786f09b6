"""Reads what systems built on RocksDB keep, as OPTIONS documents."""

from collections.abc import Callable
from dataclasses import dataclass

from rocktune.importing.document import OptionsDocument
from rocktune.importing.systems import (
    cassandra,
    ceph,
    db_bench,
    flink,
    kvrocks,
    myrocks,
    nebula,
    source_code,
    tikv,
)
from rocktune.importing.systems.settings import Collected


@dataclass(frozen=True)
class SystemFormat:
    """A format of another system.

    Attributes:
        what: the file in the user's words.
        recognises: returns whether a text has the format.
        read: returns what is in it, given how messages name the file and the text.
    """

    what: str
    recognises: Callable[[str], bool]
    read: Callable[[str, str], Collected]


_FORMATS = (
    SystemFormat("Java source", source_code.recognises_java, source_code.read_java),
    SystemFormat("C++ source", source_code.recognises_cpp, source_code.read_cpp),
    SystemFormat("TiKV's tikv.toml", tikv.recognises, tikv.read),
    SystemFormat("Flink's config.yaml", flink.recognises, flink.read),
    SystemFormat("NebulaGraph's flags", nebula.recognises, nebula.read),
    SystemFormat("db_bench's command line", db_bench.recognises, db_bench.read),
    SystemFormat("MyRocks' my.cnf", myrocks.recognises, myrocks.read),
    SystemFormat("Ceph's bluestore_rocksdb_options", ceph.recognises, ceph.read),
    SystemFormat("Cassandra's cassandra.yaml", cassandra.recognises, cassandra.read),
    SystemFormat("Kvrocks' kvrocks.conf", kvrocks.recognises, kvrocks.read),
)

FORMAT_NAMES = ", ".join(each.what for each in _FORMATS)
"""The formats that can be read besides OPTIONS files, for messages."""


def system_document(path: str, text: str) -> OptionsDocument | None:
    """Returns the OPTIONS document of another system's file; None if the text is of none.

    Args:
        path: how messages name the file.
        text: its text.

    Raises:
        OptionsFileError: the file is a system's, and malformed.
    """
    for each in _FORMATS:
        if each.recognises(text):
            return each.read(path, text).document()
    return None
