"""Starting Chromium so that it can reach nothing and cannot outlive us.

No switch here is trusted alone: the namespace takes the network away, the switches take it away again, and every page
refuses once more what is asked of it (page.py).
"""

import contextlib
import fcntl
import os
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pressroom.errors import EngineMissing
from pressroom.renderers import fonts
from pressroom.renderers.browser import binary as browser_binary
from pressroom.renderers.browser.pipe import DevtoolsConnection, DevtoolsPipe
from pressroom.renderers.sandbox.confinement import die_with_parent

NOBODY = 65534
MAX_STDERR_BYTES = 4096
PIPE_SIZE = 1 << 20

# Chromium reads from 3 and writes to 4. Ours are first moved out of the way of those two numbers.
CHROMIUM_READ_FD, CHROMIUM_WRITE_FD, MIN_OWN_FD = 3, 4, 10

NO_NETWORK = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=127.0.0.1:9",  # the discard port, on which nothing listens
    "--proxy-bypass-list=<-loopback>",  # without this, loopback addresses go around the proxy
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-client-side-phishing-detection",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-field-trial-config",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--metrics-recording-only",
    "--no-pings",
    "--no-service-autorun",
)

DISABLED_FEATURES = (
    "--disable-features=AutofillServerCommunication,CertificateTransparencyComponentUpdater,DialMediaRouteProvider,"
    "InterestFeedContentSuggestions,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,PrivacySandboxSettings4,"
    "ServiceWorkerStaticRouter,SharedWorker,Translate,UserAgentClientHint,WebBluetooth,WebUSB",
    "--disable-dev-shm-usage",  # containers give /dev/shm 64 MB, and a large page then crashes the renderer
    "--disable-gpu",
    "--disable-3d-apis",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--disable-notifications",
    "--disable-popup-blocking",  # new windows are seen and closed by us; a silent block would not be told
    "--disable-prompt-on-repost",
    "--disable-speech-api",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--password-store=basic",
    "--use-mock-keychain",
)

# The same page must give the same bytes on every machine, whatever its screen.
DETERMINISTIC_RENDERING = (
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--force-device-scale-factor=1",
    "--disable-lcd-text",
    "--disable-partial-raster",
    "--hide-scrollbars",
    "--lang=en-US",
)


@dataclass(frozen=True)
class Confinement:
    """How the browser is confined: by its own namespace, its own sandbox, or neither, inside a confined engine process."""

    namespace: bool
    sandbox: bool


def choose_confinement(user: int, can_nest: bool, in_sandbox: bool) -> Confinement:
    """Chromium's own sandbox wherever it can be had. It needs a user namespace, and it refuses to work for uid 0."""
    if can_nest:
        return Confinement(namespace=user == 0 or not in_sandbox, sandbox=True)
    if in_sandbox:
        return Confinement(namespace=False, sandbox=False)
    raise EngineMissing(
        "Chromium's sandbox needs user namespaces, which this machine does not give to this process; "
        "allow them (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0)"
    )


class ChromiumProcess:
    """A running browser: its process, its folder and the connection to it."""

    def __init__(self, confinement: Confinement | None = None, *, network: bool = False) -> None:
        """`network` keeps the machine's network within its reach, so that a test can show that the other walls hold too."""
        binary = browser_binary.find_chromium()
        if binary is None:
            raise EngineMissing(f"no Chromium was found; {browser_binary.INSTALL}")
        self.confinement = confinement or choose_confinement(os.getuid(), _can_create_user_namespace(), _has_no_network())
        self.folder = Path(tempfile.mkdtemp(prefix="chromium-"))
        self._stderr = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115
        try:
            self.process, self.connection = self._start(binary, network)
        except BaseException:
            self._stderr.close()
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def read_stderr(self) -> str:
        self._stderr.seek(max(0, self._stderr.seek(0, os.SEEK_END) - MAX_STDERR_BYTES))
        return self._stderr.read().decode(errors="replace")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(OSError):
            self.connection.close()
        self._stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, binary: Path, network: bool) -> tuple[subprocess.Popen[bytes], DevtoolsConnection]:
        (self.folder / "fonts.conf").write_text(fonts.fontconfig_xml(self.folder / "fonts"), encoding="utf-8")
        browser_read_fd, own_write_fd = os.pipe()
        own_read_fd, browser_write_fd = os.pipe()
        try:
            process = subprocess.Popen(  # noqa: S603
                [binary, *self._switches(), "about:blank"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                cwd=self.folder,
                env=self._environment(),
                pass_fds=(CHROMIUM_READ_FD, CHROMIUM_WRITE_FD),
                preexec_fn=_ChildSetup(browser_read_fd, browser_write_fd, self.confinement.namespace, network),
            )
        except subprocess.SubprocessError as refused:
            os.close(own_write_fd)
            os.close(own_read_fd)
            raise EngineMissing(f"Chromium cannot be confined here: {refused}") from None
        finally:
            os.close(browser_read_fd)
            os.close(browser_write_fd)
        with contextlib.suppress(OSError):  # a larger pipe is faster, and may be refused
            fcntl.fcntl(own_write_fd, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
            fcntl.fcntl(own_read_fd, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
        return process, DevtoolsConnection(DevtoolsPipe(own_write_fd, own_read_fd))

    def _switches(self) -> list[str]:
        sandbox = [] if self.confinement.sandbox else ["--no-sandbox"]
        where = f"--user-data-dir={self.folder / 'profile'}"
        return [
            "--headless",
            "--remote-debugging-pipe",
            where,
            *sandbox,
            *NO_NETWORK,
            *DISABLED_FEATURES,
            *DETERMINISTIC_RENDERING,
        ]

    def _environment(self) -> dict[str, str]:
        """Nothing is inherited: what is in our environment may be a secret."""
        return {
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder),
            "XDG_CACHE_HOME": str(self.folder),
            "FONTCONFIG_FILE": str(self.folder / "fonts.conf"),
            "DBUS_SESSION_BUS_ADDRESS": "disabled:",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "PATH": "/usr/bin:/bin",
        }


@dataclass(frozen=True)
class _ChildSetup:
    """Runs in the child, between fork and exec."""

    browser_read_fd: int
    browser_write_fd: int
    namespace: bool
    network: bool

    def __call__(self) -> None:
        browser_read_fd = fcntl.fcntl(self.browser_read_fd, fcntl.F_DUPFD, MIN_OWN_FD)
        browser_write_fd = fcntl.fcntl(self.browser_write_fd, fcntl.F_DUPFD, MIN_OWN_FD)
        os.dup2(browser_read_fd, CHROMIUM_READ_FD)
        os.dup2(browser_write_fd, CHROMIUM_WRITE_FD)
        if self.namespace:
            _enter_namespace(self.network)
        # After the namespace, because a change of credentials makes the kernel forget it. The pipes alone would not do:
        # a stopped or hanging browser does not notice that they are closed.
        die_with_parent()


def _enter_namespace(network: bool) -> None:
    user, group = os.getuid(), os.getgid()
    os.unshare(os.CLONE_NEWUSER | (0 if network else os.CLONE_NEWNET))
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user or NOBODY} {user} 1"),
        ("gid_map", f"{group or NOBODY} {group} 1"),
    ):
        Path("/proc/self", name).write_text(text, encoding="utf-8")


def _can_create_user_namespace() -> bool:
    """Whether a user namespace can be made from here. Tried in a child: there is no way back from one."""
    child = os.fork()
    if child == 0:
        code = 1
        with contextlib.suppress(BaseException):
            _enter_namespace(network=False)
            code = 0
        os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def _has_no_network() -> bool:
    """Whether the confinement of an engine process has already removed the network and the identity."""
    if [name for _, name in socket.if_nameindex() if name != "lo"]:
        return False
    try:
        return Path("/proc/self/uid_map").read_text(encoding="utf-8").split() != ["0", "0", "4294967295"]
    except OSError:
        return True  # not even this can be read: Landlock holds
