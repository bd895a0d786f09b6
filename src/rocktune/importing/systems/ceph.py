"""Ceph's strings of RocksDB options: bluestore_rocksdb_options and bluestore_rocksdb_cfs."""

import re

from rocktune.importing.systems.lines import assignments, unquoted
from rocktune.importing.systems.settings import Collected, Reading, Setting, is_option
from rocktune.importing.values import UnbalancedBracesError, parts_of

_OPTIONS = ("bluestore_rocksdb_options", "bluestore_rocksdb_options_annex", "filestore_rocksdb_options")
_FAMILIES = "bluestore_rocksdb_cfs"
_OF_CEPH = ("compaction_threads", "flusher_threads", "compact_on_mount", "disableWAL", "enable_rocksdb_stats")


def recognises(text: str) -> bool:
    """Returns whether a file has Ceph's options, or is the string itself."""
    return any(_plain(each) in (*_OPTIONS, _FAMILIES) for each in _settings(text)) or _is_string(text)


def read(path: str, text: str) -> Collected:
    """Returns the options of a ceph.conf or of the string alone; see `Collected.read` for what is refused."""
    file = Collected("Ceph", path, shared_cache=True)
    if _is_string(text):
        file.db = _options(file, Setting("bluestore_rocksdb_options", unquoted(text.strip()), 1))
        return file
    settings = [Setting(_plain(each), each.text, each.line) for each in _settings(text)]
    ours = file.once(each for each in settings if each.name in (*_OPTIONS, _FAMILIES))
    file.own = len(settings) - len(ours)
    for name in _OPTIONS:
        if name in ours:
            file.db += _options(file, ours[name])
    if _FAMILIES in ours:
        file.families["default"] = []
        for entry in ours[_FAMILIES].text.split():
            name, _, options = entry.partition("=")
            own = Setting(_FAMILIES, options, ours[_FAMILIES].line)
            # O(3,0-13) is family O in three shards by some of the key's characters.
            family, _, shards = name.partition("(")
            file.families[family] = _options(file, own) if options else []
            if shards:
                count = shards.partition(",")[0].rstrip(")")
                file.notes.append(f"Ceph divides column family {family} into {count}; here it is one.")
    return file


def _settings(text: str) -> list[Setting]:
    return list(assignments(text, "=", "#;"))


def _plain(setting: Setting) -> str:
    """Returns a setting's name; Ceph takes spaces and hyphens for underscores."""
    return re.sub(r"[\s-]+", "_", setting.name.strip())


def _is_string(text: str) -> bool:
    """Returns whether a text is one line such as `compression=kNoCompression,max_write_buffer_number=64`."""
    line = unquoted(text.strip())
    names = [piece.partition("=")[0].strip() for piece in re.split("[,;]", line)]
    return "\n" not in line and len(names) > 1 and "=" in line and all(map(_is_known, names))


def _is_known(name: str) -> bool:
    return is_option(name) or name in _OF_CEPH


def _options(file: Collected, setting: Setting) -> list[Reading]:
    """Returns the options in a string, which are RocksDB's own with commas or semicolons between them."""
    try:
        parts = parts_of("{" + _with_semicolons(setting.text) + "}")
    except UnbalancedBracesError as error:
        raise file.refused(setting, f"is malformed: {error}") from None
    found = []
    for part in parts:
        inner = Setting(part.name, part.text, setting.line)
        if part.name in _OF_CEPH or part.text.startswith("{type="):
            file.leave_out(inner, "Ceph reads it itself; RocksDB has no such option")
        elif part.name.startswith("["):
            raise file.refused(setting, "is malformed: write NAME=VALUE, with commas between them")
        else:
            found.append(Reading(part.name, part.text, (inner,)))
    return found


def _with_semicolons(text: str) -> str:
    """Returns a string of options with semicolons for the commas outside of braces."""
    depth, made = 0, []
    for letter in text:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        made.append(";" if letter == "," and depth == 0 else letter)
    return "".join(made)
