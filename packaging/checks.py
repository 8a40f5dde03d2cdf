"""What the tests of packages have in common: packaging/test.py, packaging/elsewhere.py."""
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
ROOTS = ROOT / "build/roots"
USER = 1000
# How a machine reaches the registries, if it does so in a way of its own.
PASSED_ON = ("http_proxy", "https_proxy", "no_proxy", "NODE_EXTRA_CA_CERTS", "npm_config_registry")


class Failure(Exception):
    pass


def run(*command, **more) -> str:
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **more)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def expect(holds: bool, what: str) -> None:
    if not holds:
        raise Failure(what)


def tool_path() -> str:
    return run(ROOT / "tools/ensure_node.sh").strip().splitlines()[-1]


def with_node() -> dict[str, str]:
    """An environment in which npm is the one of tools/ensure_node.sh."""
    return {**os.environ, "PATH": f"{tool_path()}{os.pathsep}{os.environ['PATH']}"}


def npm_node() -> Path:
    """Node and npm, as npm has them."""
    folder = ROOT / "build/tools/npm-node"
    if not (folder / "node_modules/npm").exists() or not (folder / "node_modules/node/bin/node").exists():
        folder.mkdir(parents=True, exist_ok=True)
        run("npm", "install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", "node@22", "npm@10",
            env=with_node())
    return folder


def connect(root: Path) -> None:
    """Gives a root what npm needs, and npm, to /opt/npm."""
    for file in ("/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt"):
        (root / file[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, root / file[1:])
    shutil.rmtree(root / "opt/npm", ignore_errors=True)
    shutil.copytree(npm_node() / "node_modules", root / "opt/npm/node_modules", symlinks=True)


def connected(**more: str) -> dict[str, str]:
    """The environment of a program that may fetch from registries, and has nothing else of this one's."""
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {**passed, "npm_config_update_notifier": "false", **more}
