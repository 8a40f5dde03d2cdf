"""What docs/adding-an-op.md quotes must be the code: white space aside, word for word."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
QUOTE = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def squeezed(text):
    return re.sub(r"\s+", "", text)


class AddingAnOp(unittest.TestCase):
    def test_quotes_are_the_code(self):
        document = (ROOT / "docs/adding-an-op.md").read_text(encoding="utf-8")
        quotes = QUOTE.findall(document)
        self.assertGreaterEqual(len(quotes), 7)
        for path, quote in quotes:
            with self.subTest(path=path, quote=quote):
                self.assertIn(squeezed(quote), squeezed((ROOT / path).read_text(encoding="utf-8")))

    def test_files_it_names_are_there(self):
        document = (ROOT / "docs/adding-an-op.md").read_text(encoding="utf-8")
        for path in re.findall(r"`((?:src|include|tests|tools)/[\w/.-]+\.\w+)`", document):
            with self.subTest(path=path):
                self.assertTrue((ROOT / path).is_file())


if __name__ == "__main__":
    unittest.main()
