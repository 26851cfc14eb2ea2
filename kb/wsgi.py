"""The WSGI application that the server's workers call."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kb.settings")

_django = get_wsgi_application()

from django.conf import settings  # noqa: E402 - models and settings are there once Django is set up

from incidents.page_front import Application, PageFront  # noqa: E402
from kb.router import REPLICA  # noqa: E402

# With a replica, which database answers is decided within Django.
application: Application = _django if REPLICA in settings.DATABASES else PageFront(_django)
