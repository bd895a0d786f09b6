"""Tuners in a process of their own, with which we speak in lines of JSON (docs/design/process-tuners.md)."""

from rocktune.tuners.process.definition import process_tuner

__all__ = ["process_tuner"]
