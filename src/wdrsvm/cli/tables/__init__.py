"""Tables of a user: files, columns, numbers, labels, and the features of a classifier."""
