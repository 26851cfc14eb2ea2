"""How gunicorn serves the library: loaded and warmed once before the workers fork, and shared by them.

docs/decisions/server.md says what was measured and why it is gunicorn.
"""

import sys
from pathlib import Path
from typing import Any

from kb.env import env_int, env_str
from kb.memory import give_back, share_one_heap

share_one_heap()

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
control_socket_disable = True  # it would lie in the home folder, one for all libraries of a user


def when_ready(server: Any) -> None:
    """Load everything that workers share; the application itself is loaded already."""
    from incidents.warming import warm_up  # needs the application's settings

    warm_up()
    give_back()


def on_starting(server: Any) -> None:
    """Refuse to start where pages would have no style; forget the figures of the processes before."""
    from incidents.metrics import forget_processes
    from incidents.static_storage import uncollected_files

    if missing := uncollected_files():
        sys.exit(
            f"정적 파일 {len(missing)}개가 모이지 않아 시작하지 않습니다: {missing[0]} …\n"
            "먼저 실행하십시오: .venv/bin/python manage.py collectstatic --no-input"
        )
    forget_processes(Path(env_str("KB_DATA_DIR", "var")).expanduser())


def child_exit(server: Any, worker: Any) -> None:
    """Let a worker's gauges go with it."""
    from incidents.metrics import forget_process, get_metrics

    if get_metrics() is not None:
        forget_process(worker.pid)
