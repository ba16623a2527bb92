"""The interior point for balls with bounded or categorical features."""
