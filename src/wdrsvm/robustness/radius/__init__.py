"""Which radius: the largest useful one, and rules for choosing one."""
