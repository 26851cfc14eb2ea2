"""What the API is and where its parts are: the answer of its root."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Router

from incidents.api.answers import kept_model
from incidents.api.reading import refuse_unknown
from incidents.api.representation import API_NAME, API_ROOT, API_VERSION, absolute, instant
from incidents.api.schemas import IndexLinks, IndexOut
from incidents.catalogue import get_catalogue
from incidents.exports import LICENSE, LICENSE_URL
from incidents.models import LibraryState

router = Router(tags=["길잡이"])


@router.get("/", response=IndexOut, url_name="index", operation_id="getIndex", summary="길잡이")
def get_index(request: HttpRequest) -> HttpResponseBase:
    """이 API 의 이름과 판, 게시된 기록의 수, 그리고 어디에 무엇이 있는지."""

    def make() -> IndexOut:
        refuse_unknown(request.GET, ())
        return IndexOut(
            name=API_NAME,
            version=API_VERSION,
            total=len(get_catalogue()),
            updated_at=instant(LibraryState.objects.changed_at()),
            license=LICENSE,
            license_url=LICENSE_URL,
            links=_links(),
        )

    return kept_model(
        request,
        make,
        {"service-desc": absolute(f"{API_ROOT}schema/"), "service-doc": absolute(f"{API_ROOT}docs/")},
    )


def _links() -> IndexLinks:
    """Return the addresses: a part's is its name under the root, but for those that stand elsewhere."""
    elsewhere = {"openapi": f"{API_ROOT}schema/", "feed": "/feed/", "mcp": "/mcp", "website": "/"}
    return IndexLinks(**{name: absolute(elsewhere.get(name, f"{API_ROOT}{name}/")) for name in IndexLinks.model_fields})
