"""Label audits beside those of cleanlab."""
