import io
import os
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "packaging")]
import archives
import papers

WHEN = 1_700_000_000


class Archives(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def tree(self, name: str, mtime: int, mode: int) -> Path:
        top = self.folder / name
        (top / "lib").mkdir(parents=True)
        for file in ("lib/b.so", "a.txt"):
            (top / file).write_text(file)
            (top / file).chmod(mode if file == "a.txt" else 0o755)
            os.utime(top / file, (mtime, mtime))
        (top / "lib/link.so").symlink_to("b.so")
        return top

    def test_a_tar_depends_on_contents_alone(self):
        paths = [self.folder / f"{name}.tar.gz" for name in ("one", "two")]
        for path, mtime, mode in zip(paths, (1, 2_000_000), (0o600, 0o664)):
            archives.write_tar(path, self.tree(path.name + ".d", mtime, mode), "ebb", WHEN)
        self.assertEqual(*(path.read_bytes() for path in paths))
        with tarfile.open(paths[0]) as opened:
            self.assertEqual(opened.getnames(), ["ebb/a.txt", "ebb/lib", "ebb/lib/b.so", "ebb/lib/link.so"])
            self.assertEqual(opened.getmember("ebb/lib/link.so").linkname, "b.so")

    def test_a_package_depends_on_contents_alone(self):
        paths = [self.folder / f"{name}.deb" for name in ("one", "two")]
        for path, mtime, mode in zip(paths, (1, 2_000_000), (0o600, 0o664)):
            tree = self.tree(path.name + ".d", mtime, mode)
            archives.write_deb(path, tree, self.folder / "stage", "1.2.3", WHEN)
        self.assertEqual(*(path.read_bytes() for path in paths))

    def test_a_jar_depends_on_contents_alone(self):
        jars = []
        for order, time in ((("b", "META-INF/MANIFEST.MF"), (1990, 1, 1, 0, 0, 0)),
                            (("META-INF/MANIFEST.MF", "b"), (2020, 1, 1, 0, 0, 0))):
            source, target = self.folder / "source.jar", self.folder / "target.jar"
            with zipfile.ZipFile(source, "w") as jar:
                for name in order:
                    jar.writestr(zipfile.ZipInfo(name, time), name)
            archives.copy_jar(source, target, WHEN, {"META-INF/licenses/x.txt": b"terms"})
            jars.append(target.read_bytes())
        self.assertEqual(*jars)
        with zipfile.ZipFile(io.BytesIO(jars[0])) as jar:
            self.assertEqual(jar.namelist(), ["META-INF/MANIFEST.MF", "META-INF/licenses/x.txt", "b"])


class Papers(unittest.TestCase):
    def jar(self, out: Path, *names: str) -> str:
        path = out / "maven/ebb-djl-0.2.0.jar"
        path.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(path, "w") as opened:
            for name in names:
                opened.writestr(name, "")
        return str(path.relative_to(out))

    def test_what_a_file_contains(self):
        out = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for path, parts in (("npm/linux-x64/ebb-tfjs-linux-x64-0.2.0.tgz", {"npm linux-x64"}),
                            ("npm/linux-x64/ebb-tfjs-0.2.0.tgz", set()),
                            (self.jar(out, "native/linux-x86_64/ebb"), {"maven"}),
                            ("maven/ebb-djl-0.2.0-sources.jar", set()),
                            ("cpp/ebb-0.2.0-linux-x86_64.tar.gz", {"cpp"})):
            self.assertEqual(papers.parts_of(out / path, out), parts, path)
        with_musl = self.jar(out, "native/linux-x86_64/ebb", "native/linux-x86_64-musl/ebb")
        self.assertEqual(papers.parts_of(out / with_musl, out), {"maven", "maven musl"})

    def test_the_jar_has_the_terms_of_the_tool(self):
        terms = papers.terms({"maven"})
        for name in ("fmt.txt", "nlohmann-json.txt", "cli11.txt", "protozero.txt"):
            self.assertIn(f"META-INF/licenses/{name}", terms)

    def test_upstream_versions(self):
        self.assertRegex(papers.debian_version("libfmt-dev"), r"^\d+(\.\d+)+$")

    def test_notes_are_the_changelogs(self):
        notes = papers.release_notes("999.0.0")  # not released: what is to come
        self.assertTrue(notes.startswith("# Ebb 999.0.0\n"))
        self.assertIn("\n### ", notes)
        self.assertNotIn("\n## ", notes)


if __name__ == "__main__":
    unittest.main()
