"""Single options that a user gives by name."""

from collections.abc import Iterable, Mapping
from contextlib import closing

from rocktune.engine import OptionsChecker
from rocktune.errors import unknown_name
from rocktune.space import CATALOGUE, OptionMaps


def options_by_section(options: Mapping[str, str], known: Iterable[str] = ()) -> OptionMaps:
    """Sorts options by section: catalogued ones, and whatever else the linked RocksDB has.

    Args:
        options: as text, by name.
        known: other names that a typo may have meant.

    Raises:
        UserError: there is no such option, or the text is no value of a catalogued one.
    """
    maps: OptionMaps = {"db": {}, "cf": {}, "table": {}}
    foreign = [name for name in options if name not in CATALOGUE]
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
    with closing(OptionsChecker()) as checker:
        effective = checker.effective({"db": {}, "cf": {}, "table": {}})
        return {name: section for section, texts in effective.items() for name in texts}
