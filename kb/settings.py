"""Settings of the incident library: safe by default, everything that differs between places from the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from kb.env import env_bool, env_choice, env_int, env_list, env_secret, env_str, env_url, secret_key

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env_str("KB_DATA_DIR", str(BASE_DIR / "var"))).expanduser().resolve()
DATA_DIR.mkdir(parents=True, exist_ok=True)

DEBUG = env_bool("KB_DEBUG", default=False)
SECRET_KEY = secret_key("KB_SECRET_KEY", DATA_DIR)
ALLOWED_HOSTS = env_list("KB_ALLOWED_HOSTS", ("localhost", "127.0.0.1", "[::1]"))
BASE_URL = env_url("KB_BASE_URL", "http://127.0.0.1:8000")
IS_TLS = urlsplit(BASE_URL).scheme == "https"
CSRF_TRUSTED_ORIGINS = [BASE_URL]

INSTALLED_APPS = [
    "incidents",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_filters",
    "django_htmx",
    "axes",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "csp",
    "ninja",
]

MIDDLEWARE = [
    "incidents.edge.EdgeMiddleware",
    "incidents.api.middleware.ApiMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "kb.router.ReplicaMiddleware",
    "incidents.page_cache.PageCacheMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "incidents.middleware.LanguageMiddleware",
    "incidents.middleware.UserErrorMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "incidents.middleware.FormRateMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "kb.urls"
WSGI_APPLICATION = "kb.wsgi.application"
# What stands before Django; with a replica, which database answers is decided within.
WSGI_FRONTS = [] if env_str("DATABASE_REPLICA_URL") else ["incidents.page_front.PageFront"]
ASGI_APPLICATION = "kb.asgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "incidents.context_processors.site",
            ],
        },
    },
]

# Several workers write to one SQLite file: WAL lets readers go on while one writes; an immediate transaction takes
# the write lock at its start, where the busy timeout waits for it, instead of failing half-way with "locked".
SQLITE_OPTIONS: dict[str, Any] = {
    "timeout": 20,
    "transaction_mode": "IMMEDIATE",
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-16000; PRAGMA temp_store=MEMORY",
}


def database(url: str) -> dict[str, Any]:
    """Return one of DATABASES from an address; connections stay open, and PostgreSQL's are looked after."""
    settings: dict[str, Any] = {**dj_database_url.parse(url, conn_max_age=600)}
    if settings["ENGINE"] == "django.db.backends.sqlite3":
        settings["OPTIONS"] = SQLITE_OPTIONS
        # A file, as in use: an in-memory database is one connection for all threads and knows no locks.
        settings["TEST"] = {"NAME": DATA_DIR / "test.sqlite3"}
    else:
        settings["CONN_HEALTH_CHECKS"] = True
        # Behind pgbouncer's transaction pooling a cursor can't outlive its statement on the server.
        settings["DISABLE_SERVER_SIDE_CURSORS"] = env_bool("KB_PGBOUNCER", default=False)
    return settings


DATABASES: dict[str, Any] = {"default": database(env_str("DATABASE_URL", f"sqlite:///{DATA_DIR / 'library.sqlite3'}"))}
if REPLICA_URL := env_str("DATABASE_REPLICA_URL"):
    DATABASES["replica"] = database(REPLICA_URL) | {"TEST": {"MIRROR": "default"}}
    DATABASE_ROUTERS = ["kb.router.ReplicaRouter"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

SEARCH_BACKENDS = {
    "whoosh": "incidents.search.whoosh_backend.WhooshBackend",
    "postgres": "incidents.search.postgres_backend.PostgresBackend",
}
SEARCH_BACKEND = SEARCH_BACKENDS[env_choice("KB_SEARCH_BACKEND", "whoosh", tuple(SEARCH_BACKENDS))]
if "postgres" in SEARCH_BACKEND and DATABASES["default"]["ENGINE"] != "django.db.backends.postgresql":
    raise ImproperlyConfigured("KB_SEARCH_BACKEND=postgres needs a DATABASE_URL that starts with postgres://")

CACHE_URL = env_str("KB_CACHE_URL")
CACHES: dict[str, Any] = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": CACHE_URL,
        # A page is made anew in less time than a cache that hangs may take.
        "OPTIONS": {"socket_timeout": 0.5, "socket_connect_timeout": 0.5},
    }
    if CACHE_URL
    else {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": DATA_DIR / "cache",
        "OPTIONS": {"MAX_ENTRIES": 20_000},
    },
    # Of templates, what is the same on every page; while templates are being written nothing is kept.
    "parts": {"BACKEND": f"django.core.cache.backends.{'dummy.DummyCache' if DEBUG else 'locmem.LocMemCache'}"},
}
PAGE_CACHE_BYTES = (
    env_int("KB_PAGE_CACHE_MB", 256) * 1024 * 1024
)  # of finished pages on disk; 0 keeps them in memory only

AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
AXES_FAILURE_LIMIT = env_int("KB_LOGIN_ATTEMPTS", 10, minimum=1)
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
AXES_ENABLE_ADMIN = False
AXES_LOCKOUT_CALLABLE = "incidents.views.errors.locked_out"
OTP_TOTP_ISSUER = "사고 사례 라이브러리"

LANGUAGE_CODE = "ko"
LANGUAGES = [("ko", "한국어"), ("en", "English")]
LANGUAGE_COOKIE_NAME = "language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
USE_THOUSAND_SEPARATOR = False

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "incidents.static_storage.StaticStorage"
    },
}
WHITENOISE_MAX_AGE = 3600

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "object-src": [NONE],
        "frame-src": [NONE],
        "worker-src": [NONE],
        **({"upgrade-insecure-requests": True} if IS_TLS else {}),
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "strict-origin-when-cross-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 14 * 24 * 3600
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "incidents.views.errors.csrf_failure"
if IS_TLS:
    SECURE_SSL_REDIRECT = env_bool("KB_TLS_REDIRECT", default=True)
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]  # asked by what stands beside, without TLS
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
IS_BEHIND_PROXY = env_bool("KB_BEHIND_PROXY", default=False)
if IS_BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

FORM_RATE = env_int("KB_FORM_RATE", 30)  # forms that one client without account sends in a minute; 0: no limit
API_RATE = env_int("KB_API_RATE", 600)  # requests of one client to the API in a minute; 0: no limit

DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2_000
FILE_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024

METRICS_TOKEN = env_secret("KB_METRICS")  # what a scraper of /metrics must know; without it there is none

LOG_REQUESTS = env_bool("KB_LOG_REQUESTS", default=False)
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request_id": {"()": "incidents.log_format.RequestIdFilter"}},
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name} [{request_id}] {message}", "style": "{"},
        "json": {"()": "incidents.log_format.JsonFormatter"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": env_choice("KB_LOG_FORMAT", "line", ("line", "json")),
            "filters": ["request_id"],
        }
    },
    "root": {
        "handlers": ["stderr"],
        "level": env_choice("KB_LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR")),
    },
    "loggers": {
        # Their lines below ERROR repeat addresses with what readers typed; EdgeMiddleware says what is needed.
        "django.request": {"level": "ERROR"},
        "django.server": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        "axes": {"level": "WARNING"},
    },
}
