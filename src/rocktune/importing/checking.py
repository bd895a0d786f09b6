"""Checks the decisions about an OPTIONS file with the linked RocksDB and changes them by its answers."""

import re
from collections.abc import Mapping

from rocktune.importing.decisions import BLOCK_BASED, Decision, gone_parts, unknown_reason
from rocktune.importing.document import Family, OptionsDocument, OptionsFileError
from rocktune.importing.examination import Examined, LinkedRocksDb
from rocktune.importing.history import gone_options
from rocktune.importing.objects import NEEDS_PREFIX_EXTRACTOR, STAND_INS
from rocktune.importing.values import is_number, parts_of, walked
from rocktune.options_account import Fate
from rocktune.space import OptionMaps

_NO_OBJECT = ("nullptr", "null", "")


def checked(
    decisions: list[Decision], document: OptionsDocument, family: Family, linked: LinkedRocksDb
) -> OptionMaps:
    """Returns all options as RocksDB parses them. Completes the decisions from RocksDB's answers.

    Raises:
        OptionsFileError: RocksDB parses a value as another one, or cannot open a store with these options.
    """
    _cut_per_level(decisions, linked)
    for decision in decisions:
        if decision.target == ("cf", "table_factory") and decision.text.partition("(")[0] != BLOCK_BASED:
            decision.drop(Fate.FOREIGN, STAND_INS["cf", "table_factory"].what, BLOCK_BASED)
    gone_parts(decisions, _given(decisions), linked)
    examined = _examined(decisions, document, linked)
    if examined.open_error:
        raise OptionsFileError(
            f"options file {document.path}: RocksDB {linked.version} opens no store with the options of "
            f"column family '{family.name}': {_reason(examined.open_error)}"
        )
    for decision in decisions:
        _compare(decision, examined)
    return {section: dict(texts) for section, texts in examined.parsed.items()}


def _examined(decisions: list[Decision], document: OptionsDocument, linked: LinkedRocksDb) -> Examined:
    """Drops options until RocksDB accepts the rest, and returns its answer about these."""
    while True:
        _without_prefixes(decisions)
        examined = linked.examine(_maps(decisions))
        changed = _take_refusals(decisions, examined, document, linked)
        if not changed and not _drop_newer_format(decisions, examined, linked):
            return examined


def _drop_newer_format(decisions: list[Decision], examined: Examined, linked: LinkedRocksDb) -> bool:
    """Leaves a table format out that RocksDB cannot write; it says so only when it opens a store."""
    if "format_version" not in examined.open_error:
        return False
    for decision in decisions:
        if decision.target == ("table", "format_version"):
            used = linked.default("table", "format_version")
            why = f"RocksDB {linked.version} does not write this format; its default {used} stands in"
            decision.drop(Fate.UNKNOWN, why, used)
            return True
    return False


def _given(decisions: list[Decision]) -> dict[tuple[str, str], str]:
    return {each.target: each.text for each in decisions if each.target is not None}


def _maps(decisions: list[Decision]) -> OptionMaps:
    maps: OptionMaps = {"db": {}, "cf": {}, "table": {}}
    for decision in decisions:
        for fate, value, _ in decision.parts.values():
            if fate is Fate.TRANSLATED:  # a setting that became an option of a family
                name, _, text = value.partition("=")
                maps["cf"].setdefault(name, text)
    for (section, name), text in _given(decisions).items():
        maps[section][name] = text
    return maps


def _cut_per_level(decisions: list[Decision], linked: LinkedRocksDb) -> None:
    """Leaves out compression types of levels that the family does not have; RocksDB does not heed them."""
    given = _given(decisions)
    levels = given.get(("cf", "num_levels"), linked.default("cf", "num_levels"))
    for decision in decisions:
        if decision.target != ("cf", "compression_per_level") or not re.fullmatch(r"\d{1,3}", levels):
            continue
        types = decision.text.split(":")
        if len(types) > int(levels) > 0:
            why = f"{len(types)} compression types for {levels} levels; RocksDB uses the first {levels}"
            decision.give(":".join(types[: int(levels)]), Fate.ADJUSTED, why)


def _without_prefixes(decisions: list[Decision]) -> None:
    """Replaces what needs a prefix extractor where the file's own is left out."""
    foreign = any(
        each.section == "cf" and each.option.name == "prefix_extractor" and each.fate is Fate.FOREIGN
        for each in decisions
    )
    if not foreign:
        return
    for decision in decisions:
        if decision.target is None or decision.target not in NEEDS_PREFIX_EXTRACTOR:
            continue
        values, stand_in = NEEDS_PREFIX_EXTRACTOR[decision.target]
        if re.split(r"[:;]", _class_named(decision.text))[0] in values:
            decision.give(stand_in, Fate.ADJUSTED, "it needs the prefix extractor that is left out")


def _class_named(text: str) -> str:
    """Returns the class in a value: that of `id` where it has settings."""
    return next((part.text for part in parts_of(text) if part.name == "id"), text)


def _take_refusals(
    decisions: list[Decision], examined: Examined, document: OptionsDocument, linked: LinkedRocksDb
) -> bool:
    """Decides what becomes of options that RocksDB refused or ignores; returns whether others may follow."""
    changed = False
    for decision in decisions:
        if decision.target is None:
            continue
        section, name = decision.target
        if name in examined.ignored.get(section, {}):
            _ignored(decision)
        elif (read := examined.misread.get(section, {}).get(name)) is not None:
            _misread(decision, read, document, linked)
            changed = True
        elif (reason := examined.refused.get(section, {}).get(name)) is not None:
            _refused(decision, reason, document, linked)
            changed = True
    return changed


def _ignored(decision: Decision) -> None:
    gone = gone_options().get(f"{decision.section}.{decision.option.name}")
    why = "RocksDB knows the name and does not heed it"
    if gone is not None:
        why = f"no effect since RocksDB {gone.since}" + (f": {gone.note}" if gone.note else "")
    decision.drop(Fate.WITHOUT_EFFECT, why)


def _misread(decision: Decision, read: str, document: OptionsDocument, linked: LinkedRocksDb) -> None:
    """Decides about a value that RocksDB reads as another one."""
    assert decision.target is not None
    section, name = decision.target
    if decision.target in STAND_INS:
        _foreign(decision, linked)
    elif _may_adjust(decision.text) and _may_adjust(read):
        # 11.8 takes format_version=0 for 2, and 7.8 forgets write_dbid_to_manifest.
        why = f"RocksDB {linked.version} adjusts it when it reads the option"
        if read == linked.default(section, name):
            decision.drop(Fate.ADJUSTED, why, read)
        else:
            decision.give(read, Fate.ADJUSTED, why)
    else:
        _refuse(decision, document, f"RocksDB reads it as {_shortened(read)}; give a value that it can hold")


def _may_adjust(text: str) -> bool:
    """Returns whether no parser takes the value for another by mistake, as it may beyond 32 bits."""
    return text in ("true", "false") or (re.fullmatch(r"\d{1,10}", text) is not None and int(text) < 1 << 31)


def _refuse(decision: Decision, document: OptionsDocument, reason: str) -> None:
    option = decision.option
    raise OptionsFileError(
        f"options file {document.path}: line {option.line}: {option.name}={_shortened(option.text)}: {reason}"
    )


def _refused(decision: Decision, reason: str, document: OptionsDocument, linked: LinkedRocksDb) -> None:
    assert decision.target is not None
    section, name = decision.target
    if decision.target in STAND_INS and decision.text not in _NO_OBJECT:
        _foreign(decision, linked)
    elif not linked.knows(section, name) and decision.fate is not Fate.TRANSLATED:
        decision.drop(Fate.UNKNOWN, unknown_reason(f"{section}.{name}"))
    elif _is_word(linked.default(section, name)) and not is_number(decision.text):
        used = linked.default(section, name)
        why = f"RocksDB {linked.version} does not know the value; its default {used} stands in"
        decision.drop(Fate.UNKNOWN, why, used)
    else:
        _refuse(decision, document, _reason(reason))


def _is_word(default: str) -> bool:
    """Returns whether an option holds one of a set of names, as its default shows."""
    return re.fullmatch(r"k[A-Z]\w*|[A-Z_]{3,}", default) is not None


def _foreign(decision: Decision, linked: LinkedRocksDb) -> None:
    assert decision.target is not None
    stand_in = STAND_INS[decision.target]
    elements = [part for part in decision.option.parts if part.name.startswith("[")]
    if len(elements) > 1 and decision.text == decision.option.text:
        _keep_own_classes(decision, linked)
    elif stand_in.text and decision.text != stand_in.text:
        decision.give(stand_in.text, Fate.FOREIGN, stand_in.what)
    else:
        decision.drop(Fate.FOREIGN, stand_in.what)


def _keep_own_classes(decision: Decision, linked: LinkedRocksDb) -> None:
    """Leaves the classes out of a list that only the application has, and keeps RocksDB's own."""
    assert decision.target is not None
    section, name = decision.target
    what = STAND_INS[decision.target].what
    kept = []
    for part in decision.option.parts:
        if linked.examine({section: {name: part.text}}).refused.get(section):
            decision.parts[part.name] = (Fate.FOREIGN, "", what)
        else:
            kept.append(part)
            decision.parts[part.name] = (Fate.USED, "", "")
    # RocksDB separates objects by colons; semicolons, which some releases wrote, end its own parser.
    text = ":".join(part.text for part in kept)
    if len(kept) == len(decision.parts):
        decision.give(text, Fate.TRANSLATED, "RocksDB separates the classes by colons")
    elif kept:
        decision.give(text, Fate.FOREIGN, f"of the classes that only its application has, {what}")
    else:
        decision.drop(Fate.FOREIGN, what)


def _compare(decision: Decision, examined: Examined) -> None:
    """Says where an open store has another value than the one that RocksDB parsed."""
    if decision.target is None:
        return
    section, name = decision.target
    parsed = examined.parsed.get(section, {}).get(name)
    opened = examined.opened.get(section, {}).get(name)
    if parsed is None or opened is None or parsed == opened or name == "block_cache":
        return
    own = decision.target == (decision.section, decision.option.name)
    decision.value = opened if own else f"{name}={opened}"
    if decision.fate is Fate.USED:
        decision.fate, decision.why = Fate.ADJUSTED, "RocksDB adjusts it when it opens the store"
        before, after = _by_path(parsed), _by_path(opened)
        for path, _ in walked(decision.option.parts):
            if before.get(path) != after.get(path):
                decision.parts[path] = (Fate.ADJUSTED, after.get(path, ""), decision.why)


def _by_path(text: str) -> Mapping[str, str]:
    return {path: part.text for path, part in walked(parts_of(text))}


def _reason(text: str) -> str:
    """Returns RocksDB's reason without what the account says already."""
    text = re.sub(r"^option '[^']*' \(\w+\): ", "", text)
    return re.sub(r"^Invalid argument: |; give a value it can hold$", "", text).strip()


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
