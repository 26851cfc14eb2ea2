"""The real server: slow clients, restarts, killed workers. No request that was accepted is lost."""

from __future__ import annotations

import os
import signal
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.conftest import Server


def connect(server: Server) -> socket.socket:
    parts = urlsplit(server.url)
    return socket.create_connection((parts.hostname, parts.port), timeout=30)


def status(server: Server, address: str = "/healthz") -> int:
    try:
        with urllib.request.urlopen(server.url + address, timeout=30) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


def workers_of(server: Server) -> list[int]:
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text()
    return [int(pid) for pid in children.split()]


@pytest.fixture(scope="module")
def server(shared_server: Server) -> Server:
    return shared_server


def test_slow_clients_take_no_thread(server: Server) -> None:
    """Three times as many half requests as there are threads, and everybody else is answered at once."""
    halves = [connect(server) for _ in range(24)]
    try:
        for number, half in enumerate(halves):
            half.sendall(b"" if number % 3 == 0 else b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        assert [status(server) for _ in range(5)] == [200] * 5
        # A slow client that comes to an end is answered too.
        slow = halves[1]
        for byte in (b"1", b"\r", b"\n", b"Connection: close\r\n", b"\r"):
            slow.sendall(byte)
        assert status(server) == 200
        slow.sendall(b"\n")
        assert slow.recv(12) == b"HTTP/1.1 200"
    finally:
        for half in halves:
            half.close()


def test_requests_in_one_packet_are_all_answered(server: Server) -> None:
    request = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    last = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    with connect(server) as client:
        client.sendall(request * 2 + last)
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    assert answer.count(b"HTTP/1.1 200") == 3


@pytest.mark.parametrize(
    ("request_bytes", "expected"),
    [
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"HTTP/1.1 4"),
        (b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: y\r\n" * 70 + b"\r\n", b"HTTP/1.1 4"),
        (b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"y" * 70_000 + b"\r\n\r\n", b"HTTP/1.1 4"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", b"HTTP/1.1 400"),
        (b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"HTTP/1.1 400"),
        (
            b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"HTTP/1.1 400",
        ),
    ],
)
def test_unreadable_requests_are_refused(server: Server, request_bytes: bytes, expected: bytes) -> None:
    with connect(server) as client:
        client.sendall(request_bytes)
        assert client.recv(12).startswith(expected)
    assert status(server) == 200


def test_killed_worker_is_replaced(make_server: Callable[..., Server]) -> None:
    server = make_server()
    for pid in workers_of(server):
        os.kill(pid, signal.SIGKILL)
    assert status(server) == 200
    assert status(server, "/incidents/?q=etcd") == 200


def test_reload_loses_no_request(make_server: Callable[..., Server]) -> None:
    """New workers take over while the old ones finish what they have: everybody gets an answer."""
    server = make_server()
    stop = threading.Event()
    answers: list[int] = []
    errors: list[str] = []

    def read() -> None:
        while not stop.is_set():
            try:
                answers.append(status(server, "/incidents/IL-0001/"))
            except OSError as error:
                errors.append(repr(error))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    old = workers_of(server)
    os.kill(server.process.pid, signal.SIGHUP)
    while set(old) & set(workers_of(server)):
        stop.wait(0.1)
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert set(answers) == {200}
