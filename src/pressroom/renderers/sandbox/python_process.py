"""How a Python process is started that runs a module of ours and can see little else."""

import json
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

_PACKAGE = Path(__file__).parents[2]

# Only what the module imports is loaded: a bare package stands in for ours, so that the process holds no database driver.
_BOOTSTRAP = """
import json, sys, types
package = types.ModuleType("pressroom")
package.__path__ = [sys.argv[2]]
sys.modules["pressroom"] = package
sys.path += [entry for entry in sys.argv[3:] if entry not in sys.path]
from {module} import main
main(*json.loads(sys.argv[1]))
"""


def python_command(module: str, *arguments: object, also: Sequence[str] = ()) -> list[str]:
    """Calls `main` of a module with these arguments. `also` are folders in which packages are found."""
    bootstrap = _BOOTSTRAP.replace("{module}", module)
    return [sys.executable, "-I", "-c", bootstrap, json.dumps(arguments), str(_PACKAGE), *_site_packages(), *also]


def _site_packages() -> list[str]:
    """Where packages are installed. The folder of the application is on the path too, but a sandboxed process may not read
    it."""
    return [entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]


def _readable_paths() -> list[Path]:
    """Python, its packages, the system's libraries and our fonts: nothing of a user's, and of /etc what libraries need."""
    paths = sysconfig.get_paths()
    wanted = [paths["stdlib"], paths["platstdlib"], sys.prefix, sys.base_prefix, *_site_packages(), str(_PACKAGE)]
    wanted += ["/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom", "/dev/zero"]
    return [path for path in map(Path, dict.fromkeys(wanted)) if path.exists()]


READABLE_PATHS = _readable_paths()
