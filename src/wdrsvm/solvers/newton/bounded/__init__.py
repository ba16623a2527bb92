"""Newton's method for balls with bounded or categorical features."""
