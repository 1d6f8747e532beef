"""``python -m akmc``."""

from akmc.cli import main

if __name__ == "__main__":
    main()
