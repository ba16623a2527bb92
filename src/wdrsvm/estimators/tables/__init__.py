"""Tables of numbers and categories, from the raw frame to what a classifier needs."""
