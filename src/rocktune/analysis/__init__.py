"""What tables of measurements say: their extremes and noise, and which knobs matter."""

from rocktune.analysis.summary import summary_of_table

__all__ = ["summary_of_table"]
