"""Evidence that several rules state."""

from collections.abc import Iterable

from rocktune.analysis.explain.facts import Facts
from rocktune.analysis.explain.finding import Evidence
from rocktune.analysis.explain.held import Held
from rocktune.importing.logs import StallCause
from rocktune.units import format_bytes, format_seconds


def stall_evidence(facts: Facts, causes: Iterable[Held]) -> tuple[Evidence, ...]:
    """Returns what RocksDB logged about delays and stops: how often, since when, how long, at what rate."""
    count = len(facts.opening.families)
    whose = f"the writes to all {count} families" if count > 1 else "writes"
    return tuple(_stall(held, whose) for held in causes)


def named(families: Iterable[str]) -> str:
    """Returns families in quotes, the first ones if there are many."""
    names = [f"'{name}'" for name in families]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def families_of(causes: Iterable[Held]) -> tuple[str, ...]:
    """Returns the families of causes, each once."""
    return tuple(dict.fromkeys(held.stall.family for held in causes))


def compaction_evidence(facts: Facts) -> tuple[Evidence, ...]:
    """Returns how busy compactions were while writes were held up; empty if the LOG does not say."""
    busy = facts.busy
    if busy.compactions is None or not busy.compaction_s:
        return ()
    threads = facts.compaction_threads
    limit = f" of at most {threads}" if threads is not None else ""
    text = f"On average {busy.compactions:.2f} compactions{limit} ran at a time"
    if busy.compaction_mb_s is not None:
        text += f", each writing {busy.compaction_mb_s:.1f} MiB/s"
    if busy.compaction_cpu_share is not None:
        text += f"; {busy.compaction_cpu_share:.0%} of their time was CPU time"
    return (Evidence(f"{text}.", "Comp(sec)"),)


def flush_evidence(facts: Facts) -> tuple[Evidence, ...]:
    """Returns how busy flushes were while writes were held up; empty if the LOG does not say."""
    busy = facts.busy
    if not busy.flush_s or busy.flush_mb_s is None:
        return ()
    text = f"Flushes took {format_seconds(busy.flush_s)} and wrote {busy.flush_mb_s:.1f} MiB/s"
    if busy.flushes is not None:
        text += f"; on average {busy.flushes:.2f} of at most {facts.flush_threads or '?'} ran at a time"
    return (Evidence(f"{text}.", "Comp(sec)"),)


def _stall(held: Held, whose: str) -> Evidence:
    stall = held.stall
    what = "stopped" if stall.stops else "delayed"
    length = f"{format_seconds(stall.min_s)} to {format_seconds(stall.max_s)}"
    text = f"'{stall.family}' {what} {whose} {_times(stall.periods)}, for {length} in all"
    if stall.max_rate_bytes_s is not None and stall.min_rate_bytes_s is not None:
        text += f", at {format_bytes(stall.max_rate_bytes_s)}/s"
        if stall.min_rate_bytes_s < stall.max_rate_bytes_s:
            text += f" down to {format_bytes(stall.min_rate_bytes_s)}/s"
    return Evidence(f"{text}.", _quote(held), stall.first, stall.last)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _quote(held: Held) -> str:
    """Returns the words of the message with the highest amount, as RocksDB writes them."""
    stall = held.stall
    begin = f"[{stall.family}] {'Stopping' if stall.stops else 'Stalling'} writes because "
    if stall.cause is StallCause.PENDING:
        return f"{begin}of estimated pending compaction bytes {stall.max_amount}"
    what = "level-0 files" if stall.cause is StallCause.LEVEL0 else "immutable memtables"
    return f"{begin}we have {stall.max_amount} {what}"
