"""The command line: ``main`` runs a command, ``commands`` has one file per command.

``tables`` reads the user's tables, ``models`` learns and loads classifiers.
"""
