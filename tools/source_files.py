"""Which files of the tree the checks look at: what git tracks or would track."""
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CXX_SUFFIXES = {".h", ".hpp", ".c", ".cc", ".cpp", ".cu", ".cuh"}


def tree_files() -> list[Path]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    paths = (ROOT / name for name in listed.split("\0") if name)
    return sorted(path for path in paths if path.is_file())


def cxx_files() -> list[Path]:
    return [path for path in tree_files() if path.suffix in CXX_SUFFIXES]
