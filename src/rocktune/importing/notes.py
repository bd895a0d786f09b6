"""Sentences about an OPTIONS file as a whole: what decides how far its measurement can be trusted."""

from collections.abc import Iterator

from rocktune.importing.decisions import Decision
from rocktune.options_account import Fate

_MEANING = {
    "comparator": "Keys are compared by RocksDB's bytewise order",
    "merge_operator": "The workload has no merge operations",
}


def notes_of(decisions: list[Decision], application_measures: bool) -> Iterator[str]:
    """Yields what a user has to know of foreign classes and of assumptions, one sentence each.

    Args:
        decisions: final.
        application_measures: the user's own program measures, with its own classes.
    """
    foreign = [each for each in decisions if each.fate is Fate.FOREIGN]
    if foreign and application_measures:
        named = ", ".join(_shown(each) for each in foreign)
        yield f"Classes that your program brings itself and the options leave out: {named}."
        return
    for each in foreign:
        meaning = _MEANING.get(each.option.name)
        if meaning:
            yield (
                f"{meaning}, without {_shown(each)}, which only its application has; "
                "engine 'command' measures that application with its own."
            )
    others = [each for each in foreign if each.option.name not in _MEANING]
    if others:
        yield "Measured without classes that only the application has: " + (
            "; ".join(f"{_shown(each)} ({each.why})" for each in others) + "."
        )
    for each in decisions:
        if each.fate is Fate.TRANSLATED and "assumed" in each.why:
            yield f"Assumed: {each.option.name}={each.value} ({each.why})."


def _shown(decision: Decision) -> str:
    text = decision.option.text
    return f"{decision.option.name}={text if len(text) <= 60 else text[:57] + '...'}"
