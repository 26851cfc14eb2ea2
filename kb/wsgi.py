"""The WSGI application that the server's workers call."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kb.settings")

application = get_wsgi_application()
