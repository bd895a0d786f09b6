"""Sorts single options that a user gives by name."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing

from rocktune.engine import OptionsChecker
from rocktune.errors import unknown_name
from rocktune.space import CATALOGUE, OptionMaps, family_section


def options_by_section(
    options: Mapping[str, str],
    known: Iterable[str] = (),
    families: Sequence[str] = (),
    base: OptionMaps | None = None,
) -> OptionMaps:
    """Returns options by section: those of rocktune's catalogue, and any other of the linked RocksDB.

    Args:
        options: options by name, as text.
        known: further names to suggest for a misspelt one.
        families: column families with sections of their own. An option's name may begin with a family's, as
            in "users.write_buffer_size"; without one it is set for each of them.
        base: the options that these are laid over. Of an option that holds several values, the others stay.

    Raises:
        UserError: an option is unknown, or its text is not a value of its kind.
    """
    maps: OptionMaps = {"db": {}, "cf": {}, "table": {}}
    plain = {name: _without_family(name, families) for name in options}
    # The worker is asked only for names that the catalogue lacks. It starts in some milliseconds.
    sections = _all_sections() if not CATALOGUE.keys() >= {name for _, name in plain.values()} else {}
    # Options for all families first, so that one for a single family replaces its own.
    for given, (family, name) in sorted(plain.items(), key=lambda item: item[1][0] is not None):
        if name in CATALOGUE:
            knob = CATALOGUE[name]
            value = knob.parse(options[given])
            knob.check(value)
            for each in _sections_of(knob.section, family, families):
                texts, option = maps.setdefault(each, {}), knob.option_name
                texts[option] = knob.text(value, texts.get(option, (base or {}).get(each, {}).get(option)))
        elif name in sections:
            for each in _sections_of(sections[name], family, families):
                maps.setdefault(each, {})[name] = options[given]
        else:
            raise unknown_name("option", given, {*known, *CATALOGUE, *sections})
    return maps


def _without_family(name: str, families: Sequence[str]) -> tuple[str | None, str]:
    """Returns the column family that an option's name begins with, None without one, and the rest."""
    for family in families:
        if name.startswith(f"{family}."):
            return family, name.removeprefix(f"{family}.")
    return None, name


def _sections_of(section: str, family: str | None, families: Sequence[str]) -> list[str]:
    """Returns the sections that an option goes to."""
    if section not in ("cf", "table") or not families:
        return [section]
    return [family_section(section, name) for name in (families if family is None else [family])]


def _all_sections() -> dict[str, str]:
    """Returns the section of each option that the linked RocksDB has."""
    with closing(OptionsChecker()) as checker:
        effective = checker.effective({"db": {}, "cf": {}, "table": {}})
        return {name: section for section, texts in effective.items() for name in texts}
