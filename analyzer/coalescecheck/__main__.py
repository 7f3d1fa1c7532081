"""``python -m coalescecheck``."""

from coalescecheck.cli import main

if __name__ == "__main__":
    main(prog_name="coalescecheck")
