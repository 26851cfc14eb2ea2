"""The app that keeps the incidents."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class IncidentsConfig(AppConfig):
    """Registers the signal receivers once the models are loaded."""

    name = "incidents"
    verbose_name = _("사고 사례")

    def ready(self) -> None:
        from incidents import receivers  # noqa: F401, needs the app registry
