"""handoff: the tool that teams of coding agents use to pass work on."""

__version__ = "1.0.0"
