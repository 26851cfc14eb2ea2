"""The WSGI application that the server's workers call."""

import os

from django.core.wsgi import get_wsgi_application
from django.utils.module_loading import import_string

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kb.settings")

application = get_wsgi_application()

from django.conf import settings  # noqa: E402 - there once Django is set up

for front in settings.WSGI_FRONTS:
    application = import_string(front)(application)
