"""Real repositories: pushed to by git itself, and served by git's own HTTP backend, by dulwich and from their folder."""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingMixIn, ThreadingTCPServer
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest
from dulwich.repo import Repo
from dulwich.server import DictBackend
from dulwich.web import make_wsgi_chain

TEMPLATE = {
    "template.toml": """
        [dashboard]
        template = "dashboard.html.jinja"
        css = ["base.css", "extra.css"]
        images = ["logo-small.svg", "dot.png"]
        """,
    "dashboard.html.jinja": """<!DOCTYPE html><html><head><title>{{ project.title }}</title>
        <style>{{ assets.css }}</style></head>
        <body>{{ assets.logo_small_svg }}<img src="{{ assets.dot_png }}" alt=""><h1>Our own {{ project.title }}</h1>
        {% include "list.html" %}</body></html>""",
    "list.html": """<ul>{% for edition in editions.releases %}<li>{{ edition.title }}</li>{% endfor %}</ul>""",
    "base.css": "h1 > small { color: red }",
    "extra.css": "body { margin: 0 }",
    "logo-small.svg": "<svg xmlns='http://www.w3.org/2000/svg'><path d='M0 0h1v1z'/></svg>",
    "dot.png": b"\x89PNG\r\n\x1a\n",
}


class GitRepository:
    """A bare repository and a working tree that pushes to it."""

    def __init__(self, folder: Path, name: str = "templates") -> None:
        if shutil.which("git") is None:
            pytest.skip("git is not installed")
        self.bare = folder / f"{name}.git"
        self._tree = folder / f"{name}-tree"
        self._git("init", "-q", "--bare", "-b", "main", str(self.bare), cwd=folder)
        self._git("init", "-q", "-b", "main", str(self._tree), cwd=folder)
        self._git("remote", "add", "origin", str(self.bare))

    @property
    def url(self) -> str:
        return str(self.bare)

    def push(self, files: dict[str, Any], *, branch: str = "main", tag: str = "", root: str = "") -> str:
        """A commit with these files in the place of what was there. None deletes one. Returns its hash."""
        for path, content in files.items():
            place = self._tree / root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                place.unlink()
            else:
                place.write_bytes(content if isinstance(content, bytes) else content.encode())
        self._git("add", "-A")
        self._git("commit", "-q", "--allow-empty", "-m", "change")
        self._git("push", "-q", "origin", f"HEAD:refs/heads/{branch}")
        if tag:
            self._git("tag", "-a", tag, "-m", tag)
            self._git("push", "-q", "origin", tag)
        return self._git("rev-parse", "HEAD").strip()

    def delete(self, ref: str) -> None:
        self._git("push", "-q", "origin", "--delete", ref)

    def _git(self, *arguments: str, cwd: Path | None = None) -> str:
        author = {f"GIT_{who}_{what}": "test@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self._tree,
            env={"PATH": os.environ["PATH"], "HOME": str(self._tree), "GIT_CONFIG_NOSYSTEM": "1", **author},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout


class _QuietWsgi(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


class _ThreadingWsgi(ThreadingMixIn, WSGIServer):
    daemon_threads = True


@contextmanager
def served_by_dulwich(repository: GitRepository) -> Iterator[str]:
    backend = DictBackend({"/templates.git": Repo(str(repository.bare))})
    server = make_server("127.0.0.1", 0, make_wsgi_chain(backend), server_class=_ThreadingWsgi, handler_class=_QuietWsgi)
    with _running(server):
        yield f"http://127.0.0.1:{server.server_port}/templates.git"


@contextmanager
def served_by_git(repository: GitRepository) -> Iterator[str]:
    """By `git http-backend`, which is a CGI program."""
    backend = Path(repository._git("--exec-path").strip()) / "git-http-backend"
    if not backend.exists():
        pytest.skip("git http-backend is not installed")

    class Backend(_Quiet):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            length = int(self.headers.get("Content-Length", 0))
            done = subprocess.run(
                [str(backend)],
                input=self.rfile.read(length) if length else b"",
                env={
                    "PATH": os.environ["PATH"],
                    "GIT_PROJECT_ROOT": str(repository.bare.parent),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "PATH_INFO": path,
                    "QUERY_STRING": query,
                    "REQUEST_METHOD": self.command,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "CONTENT_LENGTH": str(length),
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                    "GIT_CONFIG_NOSYSTEM": "1",
                    "HOME": str(repository.bare.parent),
                },
                check=True,
                capture_output=True,
            )
            head, _, body = done.stdout.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            self.send_response(int(headers.pop("Status", "200")[:3]))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - the name that http.server looks for

    with http_server(Backend) as address:
        yield f"{address}/{repository.bare.name}"


@contextmanager
def served_by_git_daemon(repository: GitRepository) -> Iterator[str]:
    """Over git://, by one process of `git daemon --inetd` for each connection."""
    daemon = Path(repository._git("--exec-path").strip()) / "git-daemon"
    if not daemon.exists():
        pytest.skip("git daemon is not installed")

    class Inetd(StreamRequestHandler):
        def handle(self) -> None:
            command = [str(daemon), "--inetd", "--export-all", f"--base-path={repository.bare.parent}"]
            environment = {"PATH": os.environ["PATH"], "HOME": str(repository.bare.parent), "GIT_CONFIG_NOSYSTEM": "1"}
            subprocess.run(command, stdin=self.connection, stdout=self.connection, env=environment, check=False)

    server = ThreadingTCPServer(("127.0.0.1", 0), Inetd)
    server.daemon_threads = True
    with _running(server):
        yield f"git://127.0.0.1:{server.server_address[1]}/{repository.bare.name}"


class _Quiet(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def redirecting_to(target: str) -> type[BaseHTTPRequestHandler]:
    """Whatever is asked for is elsewhere."""

    class Redirect(_Quiet):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", target)
            self.end_headers()

    return Redirect


def counting(requests: list[str]) -> type[BaseHTTPRequestHandler]:
    """A server that is never to be reached."""

    class Counting(_Quiet):
        def do_GET(self) -> None:
            requests.append(self.path)
            self.send_response(404)
            self.end_headers()

    return Counting


def answering(body: bytes) -> type[BaseHTTPRequestHandler]:
    """The same, whatever is asked for."""

    class Answering(_Quiet):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Answering


@contextmanager
def http_server(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with _running(server):
        yield f"http://127.0.0.1:{server.server_port}"


@contextmanager
def _running(server: Any) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
