"""gunicorn's threaded worker, with threads kept for requests that have arrived.

Its own worker hands a new connection to a thread, which waits for the request line and headers: a few clients that
send a byte now and then occupy every thread. Here the main loop waits for all of the headers, however slowly they come
and at most HEADER_SECONDS long; only then is a thread taken. Reading a body or sending an answer is bounded by the
kernel: a peer that takes or gives nothing for PEER_SECONDS is dropped.
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
        if not hasattr(conn, "deadline"):
            conn.deadline = None
            _bound_peer(conn.sock)
        arrived = self._arrived(conn)
        if arrived is None:
            conn.data_ready = True
            conn.deadline = None
            super().enqueue_req(conn)
            return
        if conn.deadline is None:
            seconds = HEADER_SECONDS if self.alive else STOP_KEEPALIVE_LINGER
            conn.deadline = time.monotonic() + seconds
        # From now on the loop is told only when there is more than was seen.
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, arrived + 1)
        conn.sock.setblocking(False)
        conn.timeout = conn.deadline
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def _arrived(self, conn: TConn) -> int | None:
        """Return how many bytes of an unfinished head have arrived; None where a thread should take over."""
        if self.cfg.is_ssl or (conn.parser is not None and conn.parser.unreader.buf.getvalue()):
            return None
        try:
            head = conn.sock.recv(LARGEST_HEAD, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0
        except OSError:
            return None  # the thread meets the same error and closes
        if not head or len(head) >= LARGEST_HEAD or any(end in head for end in HEAD_ENDS):
            conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
            return None
        return len(head)


def _bound_peer(sock: Any) -> None:
    bound = struct.pack("ll", PEER_SECONDS, 0)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, bound)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, bound)
