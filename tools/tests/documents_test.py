"""What the documents name must be there: linked files and headings, quoted code, targets of make, variables, properties."""
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from source_files import tree_files  # noqa: E402

CODE = {".cpp", ".hpp", ".cc", ".ts", ".mjs", ".cjs", ".sh"}
# Handed from a tool to the demo that it starts.
INTERNAL = {"EBB_JAR", "EBB_MNIST", "EBB_CLASSPATH", "EBB_CLASSPATH_SEED"}
READS = [re.compile(pattern) for pattern in (
    r'(?:getenv|from_environment)\(\s*"(EBB_\w+)"',
    r"process\.env\.(EBB_\w+)",
    r"flag\('(EBB_\w+)'",
    r"\$\{(EBB_\w+):-",
)]
TAKEN_APART = re.compile(r"const \{([^}]*)\} = process\.env")
# ```c examples/x.c: what follows is from that file, white space aside.
QUOTE = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s#]*)(#[^)\s]*)?\)")


def files():
    return [path for path in tree_files() if path.is_file()]


def documents():
    return [path for path in files() if path.suffix == ".md"]


def squeezed(text):
    return re.sub(r"\s+", "", text)


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def anchors_of(path):
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {"#" + re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in headings}


def variables_read():
    found = set()
    for path in files():
        if path.suffix not in CODE or path == Path(__file__):
            continue
        text = path.read_text(encoding="utf-8")
        for pattern in READS:
            found.update(pattern.findall(text))
        for names in TAKEN_APART.findall(text):
            found.update(re.findall(r"EBB_\w+", names))
    return found - INTERNAL


def listed(document, column):
    """The code of every table that has such a column, from that column."""
    found, at = [], None
    for line in text_of(document).splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]] if line.startswith("|") else None
        if cells is None:
            at = None
        elif column in cells:
            at = cells.index(column)
        elif at is not None:
            found += re.findall(r"`([^`]+)`", cells[at])
    return found


class Documents(unittest.TestCase):
    def test_quotes_are_the_code(self):
        quotes = 0
        for document in documents():
            for path, quote in QUOTE.findall(document.read_text(encoding="utf-8")):
                quotes += 1
                with self.subTest(document=document.name, path=path, quote=quote):
                    self.assertIn(squeezed(quote), squeezed(text_of(path)))
        self.assertGreater(quotes, 5)

    def test_links_lead_somewhere(self):
        links = 0
        for document in documents():
            for target, anchor in LINK.findall(document.read_text(encoding="utf-8")):
                if "://" in target:
                    continue
                links += 1
                with self.subTest(document=document.name, link=target + anchor):
                    path = document.parent / target if target else document
                    self.assertTrue(path.exists())
                    if anchor and path.suffix == ".md":
                        self.assertIn(anchor, anchors_of(path))
        self.assertGreater(links, 20)

    def test_targets_of_make(self):
        targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
        named = set()
        for document in documents():
            named.update(re.findall(r"(?:^|`)make ([a-z-]+)\b", document.read_text(encoding="utf-8"),
                                    re.MULTILINE))
        self.assertGreater(len(named), 8)
        self.assertEqual(named - targets, set())

    def test_presets(self):
        presets = set(re.findall(r'"name": "([\w-]+)"', text_of("CMakePresets.json"))) - {"base"}
        self.assertEqual(set(listed("CONTRIBUTING.md", "preset")), presets)

    def test_each_variable_is_listed_once_and_read(self):
        names = [name.split("=")[0]
                 for document in ("docs/node.md", "docs/observe.md", "docs/backend.md", "CONTRIBUTING.md")
                 for name in listed(document, "variable")]
        self.assertEqual(sorted(names), sorted(variables_read()))

    def test_properties_of_the_jvm(self):
        read = set()
        for path in (ROOT / "hosts/djl/src/main").rglob("*.java"):
            if path.name == "Metrics.java" or path.parent.name == "metrics":
                continue  # OpenTelemetry's names of figures
            text = path.read_text(encoding="utf-8")
            read.update(re.findall(r'"(ebb\.[a-zA-Z.]+)"', text))
            if names := re.search(r"NAMES =\s*List\.of\(([^)]*)\)", text):
                read.update(f"ebb.{name}" for name in re.findall(r'"([\w.]+)"', names[1]))
        users = {name for name in read if not name.startswith("ebb.without.")}
        self.assertEqual(set(listed("docs/jvm.md", "property")), users)
        for name in read - users:
            self.assertIn(f"`{name}`", text_of("hosts/djl/README.md"))


if __name__ == "__main__":
    unittest.main()
