"""What a server process loads once, before it forks: workers share its memory and answer the first request quickly."""

from __future__ import annotations

import gc
import logging
from importlib import import_module

from django.conf import settings
from django.db import DatabaseError, connections
from django.http import QueryDict
from django.template import loader
from django.urls import get_resolver

from incidents.catalogue import get_catalogue
from incidents.errors import UserError
from incidents.indexing import fresh_backend
from incidents.listing import build_listing
from incidents.row_texts import keep_newest
from incidents.search import parse_query

logger = logging.getLogger(__name__)

WORDS = "인증서 만료 etcd"  # any search loads the analyser, the dictionary and the index's lists of terms
MISSPELT = "인증셔"  # the list of all words, by their letters, from which corrections are taken


def warm_up() -> None:
    """Load addresses, templates, catalogue, analyser and index, then let go of what may not cross a fork.

    A library that isn't ready yet (no tables, no index) is no reason not to start: what is missing is loaded by the
    first request, which also says what is wrong.
    """
    _ = get_resolver().reverse_dict
    import_module("incidents.mcp_server.server")
    import_module("mcp.server.streamable_http_manager")
    templates = settings.BASE_DIR / "templates"
    for path in templates.rglob("*.html"):
        loader.get_template(str(path.relative_to(templates)))
    try:
        get_catalogue()
        for words in (WORDS, MISSPELT):
            fresh_backend().search(parse_query(words))
        listing = build_listing(QueryDict(f"q={WORDS.split()[0]}"))
        loader.get_template("incidents/incident_list.html").render({"listing": listing, "jump": None})
        keep_newest(get_catalogue())
    except (DatabaseError, UserError, OSError) as error:
        logger.warning("not everything could be loaded before the workers start: %s", error)
    finally:
        connections.close_all()  # a database connection serves one process
    gc.collect()
    gc.freeze()  # what is loaded now lives on; the collector's marks would otherwise copy its pages in each worker
