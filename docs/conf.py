"""Configuration of the documentation."""

import warnings

from wdrsvm import __version__

project = "wdrsvm"
author = "The wdrsvm developers"
copyright = f"2026, {author}"
release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.extlinks",
    # MathJax from the package itself: the pages need no network.
    "sphinx-mathjax-offline",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "gallery/**/GALLERY_HEADER.rst"]
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_title = f"wdrsvm {__version__}"
html_show_sourcelink = False
# Pages without others below them need no list of these.
html_sidebars = {"api": [], "extending": []}
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# Prompts and outputs are not copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
# Links to scikit-learn need no list of its names, which would be fetched from the network.
extlinks = {
    "sklearn": (
        "https://scikit-learn.org/stable/modules/generated/sklearn.%s.html",
        "sklearn.%s",
    )
}
numpydoc_show_class_members = False

# Examples that warn are as wrong as pages that do.
for category in (RuntimeWarning, UserWarning):
    warnings.simplefilter("error", category)

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py",
    "subsection_order": [
        f"../examples/{folder}"
        for folder in ("start", "promises", "labels", "models", "large")
    ],
    "within_subsection_order": "ExampleTitleSortKey",
    "abort_on_example_error": True,
    "write_computation_times": False,
    "show_signature": False,
    "reset_modules": ("matplotlib",),
}


def is_foreign(app, what, name, obj, skip, options):
    """Whether a member comes from another library, and is not described again."""
    described = obj.fget if isinstance(obj, property) else obj
    ours = str(getattr(described, "__module__", "")).startswith("wdrsvm")
    return skip or not ours


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", is_foreign)
