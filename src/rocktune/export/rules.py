"""Translates RocksDB options to another system's settings, with a table of one rule per option."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from rocktune.space import CATALOGUE, OptionMaps, merged_options
from rocktune.space.options import SECTIONS, knob_values
from rocktune.systems.rules import Rule, Settings
from rocktune.systems.values import NotExpressibleError, number_in

THREADS = ("max_background_compactions", "max_background_flushes")


@dataclass(frozen=True)
class Translated:
    """The result of applying a system's rules to options.

    Attributes:
        settings: settings by the system's names, in the order of the rules.
        unmapped: one line for each option that is left out, with the reason.
    """

    settings: Settings
    unmapped: list[str]


def flat(options: OptionMaps) -> Settings:
    """Returns the options of all sections in one map; RocksDB's sections share no names."""
    return {name: text for section in SECTIONS for name, text in options.get(section, {}).items()}


def translated(
    options: Mapping[str, str],
    rules: Mapping[str, Rule],
    fixed: Mapping[str, str] = MappingProxyType({}),
    reasons: Mapping[str, str] = MappingProxyType({}),
) -> Translated:
    """Returns the settings that a system's rules make of options.

    Args:
        options: RocksDB options as text.
        rules: rules by RocksDB option, in the order of the settings to write.
        fixed: values that the system's stores always have; an option of that value is not listed as left out.
        reasons: reasons why options have no rule; otherwise the system has no such setting.
    """
    settings: Settings = {}
    refused: dict[str, str] = {}
    # In the order of the rules, so that files of different studies can be compared line by line.
    for name in (name for name in rules if name in options):
        try:
            settings |= rules[name](options[name])
        except NotExpressibleError as error:
            refused[name] = str(error)
    # Later dictionaries win: a refusal is more precise than a general reason.
    why = {name: "no such setting" for name in options if name not in rules}
    why |= {name: f"always {text} there" for name, text in fixed.items()} | dict(reasons) | refused
    unmapped = [
        f"{name}={text}: {why[name]}"
        for name, text in options.items()
        if name in refused or (name not in rules and not _same(text, fixed.get(name)))
    ]
    return Translated(settings, unmapped)


def _same(text: str, other: str | None) -> bool:
    """Returns whether two texts are the same value; RocksDB writes ratios with six decimals."""
    if other is None or text == other:
        return text == other
    try:
        return number_in(text) == number_in(other)
    except NotExpressibleError:
        return False


def background_threads(options: OptionMaps) -> tuple[int, int] | None:
    """Returns the numbers of compactions and flushes that may run at once, None if RocksDB derives them."""
    given = [options.get("db", {}).get(name, "-1") for name in THREADS]
    # -1 is RocksDB's default and means that max_background_jobs decides.
    if all(text == "-1" for text in given):
        return None
    values = knob_values(options, (CATALOGUE[name] for name in THREADS))
    compactions, flushes = (int(values[name]) for name in THREADS)
    return compactions, flushes


def with_background_jobs(options: OptionMaps) -> tuple[OptionMaps, list[str]]:
    """Returns the options with one number of background jobs instead of the two of compactions and flushes.

    Returns:
        The options, and a note if the two numbers were set.
    """
    result, threads = merged_options(options), background_threads(options)
    for name in THREADS:
        # RocksDB ignores max_background_jobs as long as one of the two is set.
        result["db"].pop(name, None)
    if threads is None:
        return result, []
    compactions, flushes = threads
    result["db"]["max_background_jobs"] = str(compactions + flushes)
    return result, [
        f"Measured with {THREADS[0]}={compactions} and {THREADS[1]}={flushes}; here they become"
        f" {compactions + flushes} jobs, of which RocksDB gives a quarter, at least one, to flushes"
    ]
