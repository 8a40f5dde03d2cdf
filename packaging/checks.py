"""What the tests of packages have in common: packaging/test.py, packaging/elsewhere.py."""
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
ROOTS = ROOT / "build/roots"
USER = 1000


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
