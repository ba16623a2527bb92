"""Configuration of the documentation."""

from wdrsvm import __version__

project = "wdrsvm"
author = "The wdrsvm developers"
copyright = f"2026, {author}"
release = __version__

extensions = [
    "sphinx.ext.autodoc",
    # MathJax from the package itself: the pages need no network.
    "sphinx-mathjax-offline",
    "numpydoc",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["math.css"]
html_title = f"wdrsvm {__version__}"

autodoc_typehints = "none"
numpydoc_show_class_members = False
