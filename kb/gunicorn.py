"""How gunicorn serves the library: the application is loaded once before the workers fork and is shared by them."""

from kb.env import env_int

preload_app = True
worker_class = "gthread"
threads = env_int("KB_THREADS", 4, minimum=1)
timeout = 60
graceful_timeout = 30
keepalive = 5
max_requests = 0
limit_request_line = 8190
limit_request_fields = 60
accesslog = None
