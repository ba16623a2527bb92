"""What a classifier promises."""
