"""``python -m wdrsvm``: the same as the command ``wdrsvm``."""

from .cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
