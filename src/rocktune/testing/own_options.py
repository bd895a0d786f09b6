"""OPTIONS files that were read already, for tests of what is made of them."""

from collections.abc import Mapping

from rocktune.importing import ImportedOptions
from rocktune.options_account import AccountEntry, Fate, OptionsAccount
from rocktune.space import OptionMaps, family_section, merged_options


def imported_options(
    options: OptionMaps, family: str = "default", others: Mapping[str, OptionMaps] | None = None
) -> ImportedOptions:
    """Returns what an OPTIONS file comes to whose options are all used as they stand.

    Args:
        options: of the measured family.
        family: its name.
        others: the options of the file's other families, by family.
    """
    families = {family: options, **(others or {})}
    entries = [
        AccountEntry(
            section=section,
            family=family,
            name=name,
            line=line,
            given=text,
            fate=Fate.USED,
        )
        for line, (section, name, text) in enumerate(
            ((section, name, text) for section, texts in options.items() for name, text in texts.items()), 1
        )
    ]
    account = OptionsAccount(
        file_version="7.8.3",
        rocksdb_version="7.8.3",
        family=family,
        other_families=tuple(others or ()),
        entries=tuple(entries),
    )
    caches = {
        name: each["table"]["block_cache"]
        for name, each in families.items()
        if "block_cache" in each.get("table", {})
    }
    sections = {
        family_section(kind, name): dict(each.get(kind, {}))
        for name, each in (others or {}).items()
        for kind in ("cf", "table")
    }
    return ImportedOptions(merged_options(options, sections), caches, account)
