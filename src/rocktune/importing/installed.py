"""What an installed RocksDB says of its own defaults, and of a store opened with an OPTIONS file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rocktune.importing.document import OptionsDocument, OptionsFileError
from rocktune.importing.examination import LinkedRocksDb
from rocktune.importing.history import default_changes
from rocktune.importing.history.releases import lies_between
from rocktune.importing.reading import ImportedOptions, imported
from rocktune.importing.values import parts_of, walked
from rocktune.space import OptionMaps
from rocktune.space.options import SECTIONS

_OF_THE_BUILD = ("db.info_log_level", "table.block_cache")
"""Options left out. The level of the LOG depends on assertions; the history has the block cache in words."""


@dataclass(frozen=True)
class InstalledSide:
    """One RocksDB of an upgrade, as far as it is installed.

    Attributes:
        version: its version, such as "7.8.3".
        defaults: values of an open store that sets no option, by path, such as "cf.compression_opts.level".
        opened: values of an open store with the file's options, by path; empty if `refused`.
        read: what it made of the file; None if `refused`.
        refused: why it opens no store with the file; empty if it does.
    """

    version: str
    defaults: Mapping[str, str]
    opened: Mapping[str, str]
    read: ImportedOptions | None
    refused: str = ""


def installed_side(document: OptionsDocument, family: str, linked: LinkedRocksDb) -> InstalledSide:
    """Returns what an installed RocksDB says of itself and of an OPTIONS file.

    Args:
        document: the file.
        family: name of the column family.
        linked: the installed RocksDB.
    """
    defaults = leaves(linked.examine({}).opened)
    try:
        read = imported(document, linked, family)
    except OptionsFileError as refusal:
        return InstalledSide(linked.version, defaults, {}, None, str(refusal))
    measured = {section: read.options[section] for section in SECTIONS}
    return InstalledSide(linked.version, defaults, leaves(linked.examine(measured).opened), read)


def leaves(options: OptionMaps) -> dict[str, str]:
    """Returns each option, or each setting inside an option, by its path, without those of the build.

    Args:
        options: values by section and name.
    """
    found: dict[str, str] = {}
    for section, texts in options.items():
        for name, text in texts.items():
            if f"{section}.{name}" in _OF_THE_BUILD:
                continue
            found |= {f"{section}.{path}": value for path, value in option_leaves(name, text)}
    return found


def option_leaves(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yields the settings inside an option with their paths; the option itself if it has none."""
    inside = [(path, part.text) for path, part in walked(parts_of(text)) if not part.parts]
    if not inside:
        yield name, text
    for path, value in inside:
        yield (name + path if path.startswith("[") else f"{name}.{path}"), value


def disagreements(old: InstalledSide, new: InstalledSide) -> tuple[str, ...]:
    """Returns sentences on defaults for which two installed versions and rocktune's history differ.

    Only options that both versions have are compared.
    """
    expected: dict[str, tuple[str, str]] = {}
    for change in default_changes():
        if lies_between(change.since, old.version, new.version):
            before, _ = expected.get(change.path, (change.before, ""))
            expected[change.path] = before, change.after
    found = []
    for path in sorted(old.defaults.keys() & new.defaults.keys()):
        measured = old.defaults[path], new.defaults[path]
        said = expected.get(path)
        if said is None and measured[0] != measured[1]:
            found.append(
                f"{path}: its default is {measured[0]} in RocksDB {old.version} and {measured[1]} in "
                f"{new.version}, and rocktune's history does not know it."
            )
        elif said is not None and measured != said:
            found.append(
                f"{path}: its default is {measured[0]} in RocksDB {old.version} and {measured[1]} in "
                f"{new.version}, and rocktune's history says that it changes from {said[0]} to {said[1]}."
            )
    return tuple(found)
