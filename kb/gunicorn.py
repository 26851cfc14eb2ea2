"""How gunicorn serves the library: loaded and warmed once before the workers fork, and shared by them.

docs/decisions/server.md says what was measured and why it is gunicorn.
"""

from typing import Any

from kb.env import env_int

preload_app = True
worker_class = "kb.worker.GatheringWorker"
threads = env_int("KB_THREADS", 4, minimum=1)
timeout = 60
graceful_timeout = 30
keepalive = 5
max_requests = 0
limit_request_line = 8190
limit_request_fields = 60
accesslog = None


def when_ready(server: Any) -> None:
    """Load everything that workers share; the application itself is loaded already."""
    from incidents.warming import warm_up  # needs the application's settings

    warm_up()
