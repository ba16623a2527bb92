"""Sets of labels around any classifier, calibrated to keep their coverage in a ball."""
