"""gunicorn's threaded worker, with threads kept for requests that have arrived.

Its own worker hands a new connection to a thread, which waits for the request line and headers: a few clients that
send a byte now and then occupy every thread. Here the main loop gathers all of the headers, however slowly they come
and at most HEADER_SECONDS long; only then is a thread taken, and reads on from what was gathered. Reading a body or
sending an answer is bounded by the kernel: a peer that takes or gives nothing for PEER_SECONDS is dropped.
"""

from __future__ import annotations

import selectors
import socket
import struct
import time
from functools import partial
from typing import Any, Final

from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, TConn, ThreadWorker

HEADER_SECONDS: Final = 10.0
PEER_SECONDS: Final = 20
LARGEST_HEAD: Final = 64 * 1024  # bytes; gunicorn's own limits refuse what is longer
HEAD_ENDS: Final = (b"\r\n\r\n", b"\n\n")


class GatheringWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A threaded worker whose main loop gathers each request's head."""

    def enqueue_req(self, conn: TConn) -> None:
        """Give the connection to a thread if its next request's head is there, else let the loop wait for more."""
        if not hasattr(conn, "gathered"):
            conn.gathered = b""
            conn.deadline = None
            _bound_peer(conn.sock)
        if self._is_complete(conn):
            conn.data_ready = True
            conn.deadline = None
            super().enqueue_req(conn)
            return
        if conn.deadline is None:
            seconds = HEADER_SECONDS if self.alive else STOP_KEEPALIVE_LINGER
            conn.deadline = time.monotonic() + seconds
        conn.sock.setblocking(False)
        conn.timeout = conn.deadline
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def handle(self, conn: TConn) -> Any:
        """Answer a request in a thread, which finds before it what was gathered."""
        if conn.gathered:
            conn.init()
            conn.parser.unreader.unread(conn.gathered)
            conn.gathered = b""
        return super().handle(conn)

    def _is_complete(self, conn: TConn) -> bool:
        """Gather what has arrived; return whether a thread should take over."""
        if self.cfg.is_ssl or (conn.parser is not None and conn.parser.unreader.buf.getvalue()):
            return True  # bytes of its own to be read first
        try:
            arrived = conn.sock.recv(LARGEST_HEAD, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True  # the thread meets the same error and closes
        conn.gathered += arrived
        return not arrived or len(conn.gathered) >= LARGEST_HEAD or any(end in conn.gathered for end in HEAD_ENDS)


def _bound_peer(sock: Any) -> None:
    bound = struct.pack("ll", PEER_SECONDS, 0)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, bound)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, bound)
