"""Configuration of the documentation."""

from wdrsvm import __version__

project = "wdrsvm"
author = "The wdrsvm developers"
copyright = f"2026, {author}"
release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
]
exclude_patterns = ["_build", "generated"]
html_theme = "furo"
html_title = f"wdrsvm {__version__}"

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
nitpicky = False
