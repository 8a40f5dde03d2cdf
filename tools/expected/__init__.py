"""What NumPy and SciPy say of each operation: tools/make_expected.py."""
