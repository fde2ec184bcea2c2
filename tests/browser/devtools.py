"""Drives a headless Chromium over a pipe, with nothing but the standard library."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
ANSWER_SECONDS = 30.0


def find_browser() -> str | None:
    """Return the path of a Chromium, None if there is none or this system has no pipes to give it."""
    if os.name == "nt":
        return None
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One running Chromium; close it with `with`."""

    def __init__(self, program: str) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="handoff-browser-", ignore_cleanup_errors=True)
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        command = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        # Chromium is told to listen on descriptors 3 and 4; the shell puts the pipes there.
        arguments = [program, *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"]
        self._process = subprocess.Popen(
            ["/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh", "-c", command, *arguments],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._number = 0
        self._buffer = b""
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._out)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        self._profile.cleanup()

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Return the result of one command; raise RuntimeError if the browser refuses it."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def wait_for(self, method: str, session: str) -> None:
        """Take in events until one of this name arrives."""
        while not any(event["method"] == method and event.get("sessionId") == session for event in self.events):
            self._receive()

    def _receive(self) -> dict[str, Any]:
        deadline = time.monotonic() + ANSWER_SECONDS
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], max(deadline - time.monotonic(), 0))[0]:
                raise RuntimeError("the browser does not answer")
            piece = os.read(self._in, 1 << 20)
            if not piece:
                raise RuntimeError("the browser is gone")
            self._buffer += piece
        line, self._buffer = self._buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(line)
        if "method" in message:
            self.events.append(message)
        return message

    def open(self, url: str, **look: Any) -> Tab:
        """Return a tab that has loaded `url`."""
        return Tab(self, url, **look)


class Tab:
    """One page: how wide it is, dark or light, on screen or on paper, with scripts or without."""

    def __init__(
        self,
        browser: Browser,
        url: str,
        *,
        width: int = 1440,
        height: int = 900,
        dark: bool = False,
        scripts: bool = True,
        media: str = "screen",
    ) -> None:
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        browser.events.clear()
        self.call("Page.navigate", url=url)
        browser.wait_for("Page.loadEventFired", self.session)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the result of one command on this page."""
        return self.browser.call(method, self.session, **parameters)

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression, evaluated from outside the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script[:200]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def press(self, key: str, text: str | None = None) -> None:
        """Press and release a key."""
        codes = {"Tab": 9, "ArrowRight": 39, "ArrowLeft": 37, " ": 32}
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=codes[key],
                **({"text": text} if text and kind == "keyDown" else {}),
            )

    def messages(self) -> list[str]:
        """Return what the page complained about: console, exceptions, reports of the browser, dialogs."""
        told = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Audits.issueAdded")
        names = (*told, "Page.javascriptDialogOpening")
        return [json.dumps(event["params"])[:500] for event in self._mine() if event["method"] in names]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for."""
        return [
            event["params"]["request"]["url"]
            for event in self._mine()
            if event["method"] == "Network.requestWillBeSent"
        ]

    def _mine(self) -> list[dict[str, Any]]:
        return [event for event in self.browser.events if event.get("sessionId") == self.session]

    def screenshot(self, path: str) -> None:
        """Write a picture of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        with open(path, "wb") as opened:
            opened.write(base64.b64decode(shot["data"]))

    def close(self) -> None:
        """Close the tab."""
        self.browser.call("Target.closeTarget", targetId=self.target)
