"""The command line: ``main`` runs a command, ``commands`` has one file per command."""
