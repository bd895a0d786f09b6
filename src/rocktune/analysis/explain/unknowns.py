"""Lists the questions that a LOG cannot answer, so that nobody takes silence for health."""

from rocktune.analysis.explain.facts import Facts


def unknowns(facts: Facts) -> tuple[str, ...]:
    """Returns sentences on what the LOG lacks, each with the way to get it."""
    opening = facts.opening
    found = []
    if not facts.tickers:
        found.append(
            "Reads, block cache and filters: the LOG has no counters. Set options.statistics and "
            "stats_dump_period_sec, and explain the LOG again."
        )
    if not opening.dumps:
        found.append(
            "Levels, and how busy flushes and compactions were: the LOG has no dump of statistics. Set "
            "stats_dump_period_sec, or add what the property rocksdb.stats prints."
        )
    elif facts.busy.compactions is None:
        found.append(
            "Whether threads had time to spare: the dumps do not say how long the database was open."
        )
    if not opening.options and facts.options_file is None:
        found.append("Options: the LOG begins after the opening. Name the file with --options-file.")
    if opening.first is None:
        found.append("How long anything lasted: the text has no times.")
    elif facts.held.matters and not facts.held.causes:
        found.append(
            f"Why writes were held up for {facts.held.share or 0:.1%} of the time: no message says it. "
            "LOG files of that time are missing, or info_log_level leaves warnings out."
        )
    return tuple(found)
