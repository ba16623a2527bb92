"""The page and the card of a fitted model, and the parts that both of them tell."""
