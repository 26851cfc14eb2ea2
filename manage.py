#!/usr/bin/env python
"""Django's command line for the incident library."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kb.settings")
    from django.core.management import execute_from_command_line  # needs the settings module named above

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
