"""Does what needs no interpreter, such as hashing and writing, beside the reading of a large session.

The standard library hashes and writes blocks without the interpreter's lock, so that a second core can take them.
Imports nothing of ours.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from queue import SimpleQueue
    from threading import Semaphore, Thread
    from typing import Any

BLOCKS_WAITING = 2
"""Blocks that may wait, so that memory stays bounded however slow a disk is."""


class Background:
    """Calls a function with block after block, in order, in a thread of its own."""

    def __init__(self, function: Callable[[Any], object]) -> None:
        self._function = function
        self._queue: SimpleQueue[Any] | None = None
        self._thread: Thread | None = None
        self._room: Semaphore | None = None
        self._error: BaseException | None = None

    def submit(self, block: bytes) -> None:
        """Have one block taken; raise what an earlier one raised, which ends the work for good."""
        queue, room = (self._queue, self._room) if self._queue and self._room else self._start()
        room.acquire()
        if self._error is not None:
            room.release()
            raise self._error
        queue.put(block)

    def finish(self) -> None:
        """Wait until every block is taken; raise what one of them raised."""
        thread, self._thread = self._thread, None
        if thread is not None and self._queue is not None:
            self._queue.put(None)
            thread.join()
            self._queue = None
        if self._error is not None:
            raise self._error

    def _start(self) -> tuple[SimpleQueue[Any], Semaphore]:
        from queue import SimpleQueue
        from threading import Semaphore, Thread

        self._queue, self._room = SimpleQueue(), Semaphore(BLOCKS_WAITING)
        self._thread = Thread(target=self._work, args=(self._queue, self._room), daemon=True)
        self._thread.start()
        return self._queue, self._room

    def _work(self, queue: SimpleQueue[Any], room: Semaphore) -> None:
        while (block := queue.get()) is not None:
            try:
                if self._error is None:
                    self._function(block)
            except BaseException as error:  # noqa: BLE001 - raised again where the next block is handed over
                self._error = error
            del block
            room.release()
