"""Looking at the addresses of sources: politely, a few at a time, never inside our own network.

Nothing here runs by itself: the command `check_sources` asks for it. What was found is stored in SourceCheck, so that a
run that was stopped goes on where it ended, and a page can show which copy works.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

import httpx
from django.db.models import F, Q
from django.utils import timezone

from incidents.models import LinkState, Source, SourceCheck, Status
from incidents.revisions import mark_library_changed
from incidents.source_urls import canonical_url, is_archive

USER_AGENT: Final = "IncidentLibraryLinkCheck/1.0 (+checks its own citations)"
MAX_BYTES: Final = 65_536  # of an answer: enough to know that something is there
MAX_REDIRECTS: Final = 5
PORTS: Final = frozenset({80, 443, 8080, 8443})
# Answers that say "not for you, not now" rather than "not there": the page may well be alive for people.
GUARDED: Final = frozenset({401, 403, 405, 406, 429, 451, 503, 999})


class AddressRefusedError(Exception):
    """An address that isn't asked: another scheme, a port of other services, a host of an inner network."""


@dataclass(frozen=True)
class Limits:
    """How gently links are looked at. Seconds, counts; `allow_private` is for a library whose sources lie inside."""

    timeout: float = 15.0
    concurrency: int = 8
    pause_per_host: float = 1.0
    allow_private: bool = False
    archive_api: str = ""  # address that answers {"archived_snapshots": {"closest": {"url": …}}}; empty: not asked


@dataclass(frozen=True)
class Answer:
    """What was found at an address. `detail` says in Korean why, where it isn't plain."""

    state: LinkState
    http_status: int | None = None
    moved_to: str = ""
    detail: str = ""


class Politeness:
    """Lets one thread at a time ask a host, with a pause after each."""

    def __init__(self, pause: float) -> None:
        self.pause = pause
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._free_at: dict[str, float] = {}
        self._guard = threading.Lock()

    def turn(self, host: str) -> threading.Lock:
        """Return the host's lock, to be held while asking."""
        with self._guard:
            return self._locks[host]

    def wait(self, host: str) -> None:
        """Wait until the host may be asked again. Call with its lock held."""
        if (delay := self._free_at.get(host, 0.0) - time.monotonic()) > 0:
            time.sleep(delay)

    def done(self, host: str) -> None:
        self._free_at[host] = time.monotonic() + self.pause


def refuse_inner_address(url: str, *, allow_private: bool) -> tuple[str, str]:
    """Return the host of an address that may be asked, and the network address to ask (empty: the host's own).

    Every address that the host's name has must be public: a name that leads inside is refused whole. The network
    address is the one that was looked at, so that a name can't lead elsewhere between looking and asking.
    Raises AddressRefusedError with a Korean reason, OSError where the name has no address.
    """
    parts = urlsplit(url)
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise AddressRefusedError("주소의 포트를 읽을 수 없습니다.") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise AddressRefusedError("http 나 https 주소가 아닙니다.")
    if parts.username or parts.password:
        raise AddressRefusedError("주소에 이름이나 비밀번호가 들어 있습니다.")
    if allow_private:
        return parts.hostname, ""
    if port not in PORTS:
        raise AddressRefusedError(f"웹의 포트가 아닙니다: {port}.")
    addresses = _addresses(parts.hostname, port)
    if any(not address.is_global or address.is_multicast for address in addresses):
        raise AddressRefusedError("안쪽 망의 주소입니다.")
    # Not every machine reaches IPv6; where a host has both, the older one is asked.
    return parts.hostname, str(min(addresses, key=lambda address: address.version))


def _addresses(host: str, port: int) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Return every address that a name has, mapped ones as what they are. Raises OSError where there is none."""
    found = []
    for *_, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        address = ipaddress.ip_address(str(place[0]).partition("%")[0])
        mapped = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None)
        found.append(mapped or address)
    return found


def look_at(url: str, client: httpx.Client, limits: Limits, politeness: Politeness) -> Answer:
    """Return what is at an address now, following redirects one by one, each under the same rules."""
    current, is_permanent = url, True
    for _ in range(MAX_REDIRECTS + 1):
        try:
            host, address = refuse_inner_address(current, allow_private=limits.allow_private)
        except AddressRefusedError as refusal:
            return Answer(LinkState.REFUSED, detail=str(refusal))
        except (OSError, UnicodeError):
            return Answer(LinkState.DEAD, detail="이름을 찾을 수 없습니다.")
        with politeness.turn(host):
            politeness.wait(host)
            try:
                status, location = _ask(current, host, address, client)
            except httpx.TimeoutException:
                return Answer(LinkState.DEAD, detail="제때 답하지 않았습니다.")
            except httpx.HTTPError as error:
                return Answer(LinkState.DEAD, detail=f"이어지지 않았습니다: {type(error).__name__}.")
            except (ValueError, httpx.InvalidURL):
                return Answer(LinkState.DEAD, detail="주소를 읽을 수 없습니다.")
            finally:
                politeness.done(host)
        if not location:
            return _judge(url, current, status, is_permanent)
        is_permanent = is_permanent and status in (301, 308)
        current = urljoin(current, location)
    return Answer(LinkState.DEAD, detail=f"옮겨 간 곳이 {MAX_REDIRECTS}번을 넘었습니다.")


def _request(url: str, host: str, address: str, client: httpx.Client) -> httpx.Request:
    """Return the request for a URL, made to `address` in the name of `host`."""
    if not address:
        return client.build_request("GET", url)
    target = httpx.URL(url)
    return client.build_request(
        "GET",
        target.copy_with(host=address),
        headers={"Host": target.netloc.decode("ascii")},
        extensions={"sni_hostname": host},
    )


def _ask(url: str, host: str, address: str, client: httpx.Client) -> tuple[int, str]:
    """Return an answer's status and where it redirects to, reading no more of it than a little."""
    response = client.send(_request(url, host, address, client), stream=True)
    try:
        if response.is_redirect:
            return response.status_code, response.headers.get("location", "")
        read = 0
        for chunk in response.iter_raw(8_192):
            read += len(chunk)
            if read >= MAX_BYTES:
                break
        return response.status_code, ""
    finally:
        response.close()


def _judge(url: str, final: str, status: int, is_permanent: bool) -> Answer:
    if status in GUARDED:
        return Answer(LinkState.ALIVE, status, detail=f"기계에는 답하지 않습니다: {status}.")
    if status >= 400:
        return Answer(LinkState.DEAD, status, detail=f"답: {status}.")
    if canonical_url(final) == canonical_url(url) or is_archive(url):
        return Answer(LinkState.ALIVE, status)
    if urlsplit(final).path in {"", "/"} and urlsplit(url).path not in {"", "/"}:
        return Answer(LinkState.DEAD, status, final, "첫 쪽으로 돌려보냅니다.")  # a page that is gone, politely hidden
    return Answer(LinkState.MOVED if is_permanent else LinkState.ALIVE, status, final if is_permanent else "")


def due_sources(*, older_than: timedelta, include_drafts: bool = False) -> list[Source]:
    """Return the sources to look at: never looked at, changed since, or not for so long; the longest waiting first."""
    before = timezone.now() - older_than
    sources = Source.objects.select_related("link_check", "incident")
    if not include_drafts:
        sources = sources.filter(incident__status=Status.PUBLISHED)
    due = Q(link_check__isnull=True) | Q(link_check__checked_at__lt=before) | ~Q(link_check__url=F("url"))
    return list(sources.filter(due).order_by(F("link_check__checked_at").asc(nulls_first=True), "pk"))


def check_sources(
    sources: Sequence[Source], limits: Limits, *, step: Callable[[SourceCheck], object] | None = None
) -> int:
    """Look at each source and its archived copy, store what was found one by one, and return how many were done.

    What is stored stays when the run is stopped half-way. Threads only ask; the database is written by the caller's.
    """
    done = 0
    politeness = Politeness(limits.pause_per_host)
    timeout = httpx.Timeout(limits.timeout)
    with (
        httpx.Client(
            timeout=timeout, follow_redirects=False, headers={"User-Agent": USER_AGENT}, trust_env=False
        ) as client,
        ThreadPoolExecutor(max_workers=max(1, limits.concurrency)) as pool,
    ):
        tasks = {pool.submit(_look_at_source, source, client, limits, politeness): source for source in sources}
        try:
            for task in as_completed(tasks):
                answer, copy, proposal = task.result()
                check = _store(tasks[task], answer, copy, proposal)
                done += 1
                if step is not None:
                    step(check)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        finally:
            if done:
                mark_library_changed()  # pages say which copies work
    return done


def _look_at_source(
    source: Source, client: httpx.Client, limits: Limits, politeness: Politeness
) -> tuple[Answer, Answer | None, str]:
    answer = look_at(source.url, client, limits, politeness)
    copy = look_at(source.archived_url, client, limits, politeness) if source.archived_url else None
    is_wanted = not source.archived_url or (copy is not None and copy.state == LinkState.DEAD)
    proposal = _archived_copy(source.url, client, limits, politeness) if is_wanted and limits.archive_api else ""
    return answer, copy, proposal


def _archived_copy(url: str, client: httpx.Client, limits: Limits, politeness: Politeness) -> str:
    """Return an archive's copy of an address; empty where it has none or doesn't answer."""
    question = f"{limits.archive_api}?url={quote(url, safe='')}"
    try:
        host, address = refuse_inner_address(question, allow_private=limits.allow_private)
        with politeness.turn(host):
            politeness.wait(host)
            try:
                answer = client.send(_request(question, host, address, client))
                found = answer.json()["archived_snapshots"]["closest"]
            finally:
                politeness.done(host)
        return str(found["url"])[:1_000] if found.get("available") else ""
    except (AddressRefusedError, OSError, httpx.HTTPError, ValueError, KeyError, TypeError):
        return ""


def _store(source: Source, answer: Answer, copy: Answer | None, proposal: str) -> SourceCheck:
    before = getattr(source, "link_check", None)
    is_dead = answer.state == LinkState.DEAD
    failures = (before.failures if before is not None and before.url == source.url else 0) + 1 if is_dead else 0
    check, _created = SourceCheck.objects.update_or_create(
        source=source,
        defaults={
            "url": source.url,
            "state": answer.state,
            "http_status": answer.http_status,
            "detail": answer.detail[:300],
            "moved_to": answer.moved_to[:1_000],
            "archived_state": copy.state if copy is not None else "",
            "proposed_archive": proposal,
            "failures": failures,
            "checked_at": timezone.now(),
        },
    )
    return check


def working_copies(checks: Iterable[SourceCheck]) -> dict[int, str]:
    """Return by source which copy a reader should open: `original`, `archived`, or `none`."""
    copies = {}
    for check in checks:
        if check.state != LinkState.DEAD:
            copies[check.source_id] = "original"
        else:
            copies[check.source_id] = "archived" if check.archived_state == LinkState.ALIVE else "none"
    return copies
