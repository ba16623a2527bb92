"""The structured interior point: exact training at small and medium size."""
