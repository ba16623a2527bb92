"""The curvature of the loss: what the preconditioner and the model are made of."""
