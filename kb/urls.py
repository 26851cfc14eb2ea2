"""Addresses: the admin and everything that the incidents app serves."""

from django.contrib import admin
from django.urls import include, path

from incidents.admin.desk import desk_view, worklist_view
from incidents.admin.two_factor import two_factor_view
from incidents.api.api import api

urlpatterns = [
    path("admin/desk/", admin.site.admin_view(desk_view), name="desk"),
    path("admin/desk/<slug:name>/", admin.site.admin_view(worklist_view), name="worklist"),
    path("admin/two-factor/", admin.site.admin_view(two_factor_view), name="two_factor"),
    path("admin/", admin.site.urls),
    path("", include("incidents.urls")),
    path("api/v1/", api.urls),
]

handler400 = "incidents.views.errors.bad_request"
handler403 = "incidents.views.errors.permission_denied"
handler404 = "incidents.views.errors.page_not_found"
handler500 = "incidents.views.errors.server_error"
