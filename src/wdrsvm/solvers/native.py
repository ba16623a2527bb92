"""The interior point's kernels, compiled."""
import os
from importlib import import_module

kernels = import_module(f".primal_dual_{os.environ.get('WDRSVM_CPU', 'v3')}", __package__)
