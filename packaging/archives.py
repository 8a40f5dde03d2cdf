"""Archives whose bytes depend on nothing but what is in them and the time they are told."""
import gzip
import os
import shutil
import subprocess
import tarfile
import zipfile
from datetime import datetime, timezone
from pathlib import Path

CONTROL = """Package: libebb-dev
Version: {version}
Architecture: amd64
Maintainer: The Ebb developers <ebb@ebb.dev>
Installed-Size: {size}
Depends: libc6 (>= 2.31), libstdc++6 (>= 9), libgcc-s1 (>= 3.4), libfmt-dev
Section: libdevel
Priority: optional
Homepage: https://ebb.dev
Description: Gives device memory back for programs in garbage-collected languages
 The library with its headers, for CMake (find_package) and pkg-config.
"""


def entries(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def mode_of(path: Path) -> int:
    """As a fresh checkout by anybody has it, whatever the umask was."""
    return 0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644


def write_tar(path: Path, folder: Path, top: str, when: int) -> None:
    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = when
        if not member.issym():
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member

    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=when) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for entry in entries(folder):
                archive.add(entry, f"{top}/{entry.relative_to(folder)}", recursive=False, filter=plain)


def write_deb(path: Path, prefix: Path, stage: Path, version: str, when: int) -> None:
    shutil.rmtree(stage, ignore_errors=True)
    shutil.copytree(prefix, stage / "usr", symlinks=True)
    size = sum(entry.stat().st_size for entry in entries(stage) if entry.is_file() and not entry.is_symlink())
    (stage / "DEBIAN").mkdir()
    (stage / "DEBIAN/control").write_text(CONTROL.format(version=version, size=size // 1024))
    for entry in [stage, *entries(stage)]:
        if not entry.is_symlink():
            entry.chmod(mode_of(entry))
        os.utime(entry, (when, when), follow_symlinks=False)
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", str(stage), str(path)],
                   check=True, env={**os.environ, "SOURCE_DATE_EPOCH": str(when)}, stdout=subprocess.DEVNULL)


def copy_jar(source: Path, target: Path, when: int, more: dict[str, bytes] | None = None) -> None:
    """The same entries and `more`, sorted, with one time: plug-ins of Maven differ in what they keep of it. The manifest is
    first, as java.util.jar.JarInputStream wants it."""
    time = datetime.fromtimestamp(when, timezone.utc).timetuple()[:6]
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        first = ["META-INF/", "META-INF/MANIFEST.MF"]
        added = more or {}
        names = sorted({*old.namelist(), *added}, key=lambda name: (first.index(name) if name in first else 2, name))
        for name in names:
            entry = zipfile.ZipInfo(name, time)
            entry.external_attr = (0o40755 << 16 | 0x10) if name.endswith("/") else 0o100644 << 16
            entry.compress_type = zipfile.ZIP_STORED if name.endswith("/") else zipfile.ZIP_DEFLATED
            new.writestr(entry, added[name] if name in added else old.read(name), compresslevel=9)
