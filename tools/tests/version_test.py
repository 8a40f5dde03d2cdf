import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import version


class Version(unittest.TestCase):
    def test_it_is_the_same_everywhere(self):
        for place in version.REPEATED:
            self.assertEqual(version.read(*place), version.version(), place[0])


if __name__ == "__main__":
    unittest.main()
