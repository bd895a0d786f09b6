"""The command line: it parses, calls `rocktune.api` and prints."""
