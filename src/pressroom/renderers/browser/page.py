"""One page of the browser, shut on every side: what it asks for is refused and noted.

The page is always about:blank, whose origin may read nothing; content is written into it. A file:// page could read files.
"""

import base64
import contextlib
import re
from collections.abc import Callable
from typing import Any

from pressroom.errors import EngineCrashed, Timeout, TooLarge
from pressroom.renderers import Notice
from pressroom.renderers.browser.pipe import DevtoolsConnection

NOTICES = 20
URL_SHOWN = 200
CHUNK = 4 << 20
WORLD = "pressroom"
# Asked of the class: an <img name=readyState> would answer in the document's place.
READY_STATE = '() => Object.getOwnPropertyDescriptor(Document.prototype, "readyState").get.call(document)'

_LOCAL = re.compile(r"Not allowed to load local resource: (\S+)")
_OURS = ("data:", "about:")


class BrowserPage:
    def __init__(self, connection: DevtoolsConnection, *, scripts: bool) -> None:
        self._connection = connection
        self._refused: dict[str, None] = {}  # in the order they were asked for
        self._loaded = False
        self._document = self._session = ""
        self._beginning = 0
        self._context = connection.call("Target.createBrowserContext", {"disposeOnDetach": True})["browserContextId"]
        try:
            target = connection.call("Target.createTarget", {"url": "about:blank", "browserContextId": self._context})
            self._target = target["targetId"]
            attached = connection.call("Target.attachToTarget", {"targetId": self._target, "flatten": True})
            self._session = attached["sessionId"]
            self._listen()
            self._frame = self._block_network(scripts)
            self._world = self._create_isolated_world()
        except BaseException:
            self.close()
            raise

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self._connection.call(method, params, self._session)

    def run(self, function: str, *arguments: Any) -> Any:
        """Call a function of ours beside the page, where the page's own scripts cannot reach it. Works with scripts off too."""
        said = self.call(
            "Runtime.callFunctionOn",
            functionDeclaration=function,
            executionContextId=self._world,
            arguments=[{"value": argument} for argument in arguments],
            returnByValue=True,
            awaitPromise=True,
        )
        if "exceptionDetails" in said:
            details = said["exceptionDetails"]
            raise EngineCrashed(f"our script failed: {details.get('exception', {}).get('description', details.get('text'))}")
        return said["result"].get("value")

    def show(self, html: str) -> None:
        """Write the document and wait until everything in it has loaded or was refused."""
        self._loaded = False
        self.call("Page.setDocumentContent", frameId=self._frame, html=html)
        # The event alone proves nothing: it may be the late one of the empty page that was here before.
        while self.run(READY_STATE) != "complete":
            self._connection.receive_until(lambda: self._loaded)
            self._loaded = False

    def add_startup_script(self, script: str) -> None:
        """Run a script of ours in the world beside every document to come, before anything else is in it."""
        self.call("Runtime.enable")  # without it Chromium takes the script and never runs it
        self.call("Page.addScriptToEvaluateOnNewDocument", source=script, worldName=WORLD)

    def reset(self) -> None:
        """A new document and a new world of scripts, which remember nothing. Goes on at once; `wait_until_reset` waits."""
        self._refused.clear()
        self._beginning = self._connection.send_command("Page.navigate", {"url": "about:blank"}, self._session)
        self._connection.flush()

    def wait_until_reset(self) -> None:
        document = self._connection.wait_for_reply(self._beginning)["loaderId"]
        self._connection.receive_until(lambda: self._document == document and self._loaded)
        self._world = self._create_isolated_world()

    def stream(self, method: str, limit: int, **params: Any) -> bytes:
        """The bytes that a method makes, read in pieces, so that too many of them are never held."""
        handle = self.call(method, transferMode="ReturnAsStream", **params)["stream"]
        data = bytearray()
        while True:
            piece = self.call("IO.read", handle=handle, size=CHUNK)
            data += base64.b64decode(piece["data"]) if piece.get("base64Encoded") else piece["data"].encode()
            _refuse_if_longer(len(data), limit)
            if piece["eof"]:
                self._connection.send_without_reply("IO.close", {"handle": handle}, self._session)
                return bytes(data)

    def decode_base64(self, data: str, limit: int) -> bytes:
        _refuse_if_longer(len(data) * 3 // 4, limit)
        return base64.b64decode(data)

    def record_refused_url(self, url: str) -> None:
        if not url.lower().startswith(_OURS) and len(self._refused) < NOTICES:
            self._refused.setdefault(url[:URL_SHOWN])

    @property
    def notices(self) -> list[Notice]:
        return [Notice("blocked_fetch", f"was not fetched: {url}") for url in self._refused]

    def close(self) -> None:
        """Does not wait until the context is gone: the next page has one of its own."""
        self._connection.remove_handlers(self._session)
        with contextlib.suppress(EngineCrashed, Timeout):
            self._connection.send_without_reply("Target.disposeBrowserContext", {"browserContextId": self._context})
            self._connection.flush()

    def _listen(self) -> None:
        handlers: dict[str, Callable[[dict[str, Any]], None]] = {
            "Fetch.requestPaused": self._on_request_paused,
            "Network.requestWillBeSent": lambda event: self.record_refused_url(event["request"]["url"]),
            "Network.webSocketCreated": lambda event: self.record_refused_url(event["url"]),
            "Network.webTransportCreated": lambda event: self.record_refused_url(event["url"]),
            "Page.frameNavigated": self._on_navigated,
            "Page.frameRequestedNavigation": lambda event: self.record_refused_url(event["url"]),
            "Page.windowOpen": lambda event: self.record_refused_url(event["url"]),
            "Page.javascriptDialogOpening": self._on_dialog,
            "Page.loadEventFired": self._on_load,
            "Log.entryAdded": self._on_log,
            "Target.attachedToTarget": self._on_target_created,
            "Inspector.targetCrashed": self._on_crash,
        }
        for event, handler in handlers.items():
            self._connection.on(self._session, event, handler)

    def _block_network(self, scripts: bool) -> str:
        """Close every way out, before anything of a stranger is in. All is asked at once: it costs one round trip."""
        context = {"browserContextId": self._context}
        offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        of_browser: list[tuple[str, dict[str, Any]]] = [
            ("Browser.setDownloadBehavior", {"behavior": "deny", **context}),
            ("Browser.grantPermissions", {"permissions": [], **context}),  # whatever is not granted is denied
        ]
        of_page: list[tuple[str, dict[str, Any]]] = [
            ("Emulation.setScriptExecutionDisabled", {"value": not scripts}),
            ("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}),
            ("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}),
            ("Network.emulateNetworkConditions", offline),
            ("Network.setBypassServiceWorker", {"bypass": True}),
            ("Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}),
            ("Inspector.enable", {}),
            ("Log.enable", {}),
            ("Page.enable", {}),
        ]
        asked = [self._connection.send_command(method, params) for method, params in of_browser]
        asked += [self._connection.send_command(method, params, self._session) for method, params in of_page]
        tree = self._connection.send_command("Page.getFrameTree", {}, self._session)
        for number in asked:
            self._connection.wait_for_reply(number)
        return str(self._connection.wait_for_reply(tree)["frameTree"]["frame"]["id"])

    def _create_isolated_world(self) -> int:
        return int(self.call("Page.createIsolatedWorld", frameId=self._frame, worldName=WORLD)["executionContextId"])

    def _on_request_paused(self, event: dict[str, Any]) -> None:
        url = event["request"]["url"]
        document = event.get("resourceType") == "Document"
        if url.lower().startswith("data:") and not document:
            self._connection.send_without_reply("Fetch.continueRequest", {"requestId": event["requestId"]}, self._session)
            return
        self.record_refused_url(url)
        # An aborted navigation leaves the document as it is; a blocked one would put an error page in its place.
        reason = "Aborted" if document else "BlockedByClient"
        self._connection.send_without_reply(
            "Fetch.failRequest", {"requestId": event["requestId"], "errorReason": reason}, self._session
        )

    def _on_target_created(self, event: dict[str, Any]) -> None:
        """A window, frame or worker with a process of its own. It waits for us before it begins, and we end it there."""
        self.record_refused_url(event["targetInfo"]["url"])
        self._connection.send_without_reply("Target.closeTarget", {"targetId": event["targetInfo"]["targetId"]})

    def _on_dialog(self, _: dict[str, Any]) -> None:
        self._connection.send_without_reply("Page.handleJavaScriptDialog", {"accept": False}, self._session)

    def _on_load(self, _: dict[str, Any]) -> None:
        self._loaded = True

    def _on_navigated(self, event: dict[str, Any]) -> None:
        if "parentId" not in event["frame"]:
            self._document, self._loaded = event["frame"]["loaderId"], False

    def _on_log(self, event: dict[str, Any]) -> None:
        if found := _LOCAL.search(event["entry"].get("text", "")):
            self.record_refused_url(found.group(1))

    def _on_crash(self, _: dict[str, Any]) -> None:
        raise EngineCrashed("the browser's page crashed")


def _refuse_if_longer(size: int, limit: int) -> None:
    if size > limit:
        raise TooLarge(f"the output has more than {limit:,} bytes")
