"""Failures that a person can mend: printed as one line, without a trace."""


class FleetError(Exception):
    """A command cannot go on; the text says why and what to do."""
