"""Sorts single options that a user gives by name."""

from collections.abc import Iterable, Mapping
from contextlib import closing

from rocktune.engine import OptionsChecker
from rocktune.errors import unknown_name
from rocktune.space import CATALOGUE, OptionMaps


def options_by_section(options: Mapping[str, str], known: Iterable[str] = ()) -> OptionMaps:
    """Returns options by section: those of rocktune's catalogue, and any other of the linked RocksDB.

    Args:
        options: options by name, as text.
        known: further names to suggest for a misspelt one.

    Raises:
        UserError: an option is unknown, or its text is not a value of its kind.
    """
    maps: OptionMaps = {"db": {}, "cf": {}, "table": {}}
    # The worker is asked only for names that the catalogue lacks.
    foreign = [name for name in options if name not in CATALOGUE]
    # Starts a worker process, which takes some milliseconds.
    sections = _all_sections() if foreign else {}
    for name in foreign:
        if name not in sections:
            raise unknown_name("option", name, {*known, *CATALOGUE, *sections})
        maps[sections[name]][name] = options[name]
    for name in options.keys() - set(foreign):
        knob = CATALOGUE[name]
        value = knob.parse(options[name])
        knob.check(value)
        maps.setdefault(knob.section, {})[knob.option_name] = knob.text(value)
    return maps


def _all_sections() -> dict[str, str]:
    """Returns the section of each option that the linked RocksDB has."""
    with closing(OptionsChecker()) as checker:
        effective = checker.effective({"db": {}, "cf": {}, "table": {}})
        return {name: section for section, texts in effective.items() for name in texts}
