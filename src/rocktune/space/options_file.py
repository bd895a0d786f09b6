"""The text of RocksDB's OPTIONS files. The worker reads such files, through RocksDB's own parser."""

from collections.abc import Sequence
from types import MappingProxyType

from rocktune.errors import UserError
from rocktune.space.configuration import OptionMaps, family_section, section_kind

NOT_ROCKSDBS = MappingProxyType(
    {"rate_limiter_auto_tuned": "your program has to pass it to rocksdb::NewGenericRateLimiter"}
)
"""Options that only rocktune knows, each with an instruction for applications."""


def options_file_text(
    options: OptionMaps, rocksdb_version: str, comment: Sequence[str] = (), family: str = "default"
) -> str:
    """Returns the text of an OPTIONS file that RocksDB's `LoadOptionsFromFile` of this version reads.

    The file holds only these options; RocksDB uses its defaults for all others. `block_cache` is among the
    table options: RocksDB never writes it there, but reads it and makes a cache for each column family.
    Options that only rocktune knows are written as comments, and so is a block cache that several families
    share, because RocksDB would make one for each of them.

    Args:
        options: the options at full size. Sections such as "cf:users" make further column families.
        rocksdb_version: version of RocksDB, such as "7.8.3".
        comment: lines for the head of the file.
        family: name of the column family of sections "cf" and "table", if these have options.

    Raises:
        UserError: an option's text contains # or a line break, which RocksDB's format cannot represent.
    """
    lines = [f"# {line}".rstrip() for text in comment for line in text.splitlines() or [""]]
    sections = [
        # RocksDB refuses a file without this section, or with another format version than it knows.
        ("[Version]", {"rocksdb_version": rocksdb_version, "options_file_version": "1.1"}),
        ("[DBOptions]", options.get("db", {})),
    ]
    families = options_by_family(options, family)
    # RocksDB demands that the default one comes first.
    for name, own in ({"default": families.pop("default", {})} | families).items():
        sections.append((f'[CFOptions "{name}"]', own.get("cf", {})))
        sections.append((f'[TableOptions/BlockBasedTable "{name}"]', own.get("table", {})))
    shared = (
        None
        if options.get("cf") or not family_names(options)
        else options.get("table", {}).get("block_cache")
    )
    if shared is not None:
        lines += ["", f"# block_cache={shared}: all column families share it; your program has to make it"]
    for title, values in sections:
        lines += ["", title, *(_line(name, _checked(name, value)) for name, value in values.items())]
    # Without a comment the first line would be empty.
    return "\n".join(lines).lstrip("\n") + "\n"


def family_names(options: OptionMaps) -> tuple[str, ...]:
    """Returns the names of the column families that have sections of their own, in their order."""
    return tuple(
        section.partition(":")[2] for section in options if section_kind(section) == "cf" and section != "cf"
    )


def options_by_family(options: OptionMaps, family: str) -> dict[str, OptionMaps]:
    """Returns the sections "cf" and "table" of each column family, by name.

    Args:
        options: options, with sections such as "cf:users" for further families.
        family: name of the family of sections "cf" and "table", if these have options.
    """
    own = {
        name: {kind: options.get(family_section(kind, name), {}) for kind in ("cf", "table")}
        for name in family_names(options)
    }
    if options.get("cf") or not own:
        own = {family: {kind: options.get(kind, {}) for kind in ("cf", "table")}} | own
    return own


def _line(name: str, value: str) -> str:
    """Returns the line of one option, a comment if only rocktune knows the option."""
    if name in NOT_ROCKSDBS:
        return f"  # {name}={value}: {NOT_ROCKSDBS[name]}"
    return f"  {name}={value}"


def _checked(name: str, value: str) -> str:
    """Returns the value.

    Raises:
        UserError: it contains # or a line break.
    """
    if any(sign in value for sign in "#\n\r"):
        raise UserError(
            f"{name}: '{value}' cannot be written to an OPTIONS file, because it contains # or a line break"
        )
    return value
