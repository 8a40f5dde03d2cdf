#!/usr/bin/env python3
"""Holds arithmetic on sizes to ebb/base/checked.hpp; prints the offending lines and exits with 1.

A product or sum of extents, strides, counts, offsets or attributes that wraps around is a shape, a
loop or an allocation of another size. So where such numbers come from outside, they go through
checked_mul, checked_add, checked_sub or saturating_mul.

Planners (what works out shapes, offsets and sizes: ops, tensor, io, the devices' side of a backend):
  each binary * + *= += is an offence, unless it is
    - inside of [ ], where it finds an element of a short list;
    - of two operands that are small: a literal, kName, sizeof, a rank, an axis, a loop's i or j, the
      size() of something that is in memory;
    - a sum with a literal or a kName: sizes are at most 2^62;
    - of text, of a hash (^), or a step from data, begin() or end().
  So is an algorithm that multiplies or adds up by itself (std::accumulate, std::multiplies, ...).
Books (tensor, which counts what lives beside knowing where it lies): the same for products; of sums those that have an offset, a stride, a step, an extent or a dim in them.
Kernels and what serves them (folders of KERNELS): their operands and results exist, so that each
  position in one fits; they are not run where a result has no elements. Offences are only the
  operators in the arguments of what takes memory: workspace, make, Shape, reserve, resize, assign.

What is right for another reason says so, on the line or above it:
  // arithmetic: <reason>            the next line of code, or its own
  // arithmetic of this file: <reason>
"""
import argparse
import re
import sys
from pathlib import Path
from typing import Iterator, NamedTuple

PLANNERS = ("src/ops", "src/tensor", "src/io", "src/backends", "include/ebb/ops",
            "include/ebb/tensor", "include/ebb/io")
BOOKS = ("src/tensor", "include/ebb/tensor")
KERNELS = ("src/backends/cpu", "src/backends/cuda/plugin")
SUFFIXES = {".h", ".hpp", ".cpp", ".cu", ".cuh"}

TEXT = re.compile(r'R"\w*\((?:.|\n)*?\)\w*"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*(?:.|\n)*?\*/')
MARK = re.compile(r"//\s*arithmetic(?P<file> of this file)?:\s*\S")
OPERATOR = re.compile(r"(?<=\s)(?:\*|\+|\*=|\+=)(?=\s)")
ALGORITHM = re.compile(r"\bstd::(?:accumulate|reduce|transform_reduce|inner_product|partial_sum|inclusive_scan"
                       r"|exclusive_scan|multiplies|plus)\b")
TAKES_MEMORY = re.compile(r"\b(?:workspace(?:<[^<>]*>)?|make|Shape|reserve|resize|assign)\s*[({]")

NAME = r"(?:\w+(?:\.|->|::))*"
SMALL = re.compile(rf"""(?:\d[\w'.]*|{NAME}k[A-Z]\w*|sizeof\([^()]*\)|sizeof\.\.\.\(\w+\)
                      |{NAME}\w*(?:rank|axis|axes)_?(?:\(\))?|{NAME}[ij]|[\w.>\-\[\]()]*\.size\(\)
                      |size_of\([^()]*(?:\(\))?\)|{NAME}size_|std::size_t\{{\d+\}}|std::u?int\d+_t\{{\d+\}})""", re.X)
OF_A_LAYOUT = re.compile(r"(?:offset|stride|step|extent|dim)s?\b")
LITERAL = re.compile(rf"\d[\w'.]*|{NAME}k[A-Z]\w*")
STEPS = re.compile(r"\.(?:data|begin|end|get)(?:\(\))?$")
OPEN, CLOSE = "([{", ")]}"


class Offence(NamedTuple):
    path: str
    line: int
    code: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: a bare {self.code}"


def without_text(source: str) -> str:
    """The source with comments, casts and the letters of texts as blanks: all else stays in place."""
    def blank(found: re.Match) -> str:
        text = found.group()
        if text.startswith("/"):
            return re.sub(r"[^\n]", " ", text)
        return '"' + re.sub(r"[^\n]", "_", text[1:-1]) + '"'
    code = TEXT.sub(blank, source)
    return re.sub(r"static_cast<[^<>]*>", lambda cast: "c" + " " * (len(cast.group()) - 1), code)


def marked_lines(source: str) -> set[int]:
    """The lines that a mark speaks for: its own, and the code below where it stands alone."""
    lines = source.splitlines()
    marked: set[int] = set()
    for number, line in enumerate(lines, 1):
        found = MARK.search(line)
        if found is None:
            continue
        marked.add(number)
        if line.strip().startswith("//"):
            below = number
            while below < len(lines) and lines[below].strip().startswith("//"):
                below += 1
            marked.add(below + 1)
            while below + 1 < len(lines) and not lines[below].rstrip().endswith((";", "{", "}")):
                below += 1
                marked.add(below + 1)
    return marked


def left_operand(code: str, end: int) -> str:
    """What stands before an operator: back to the last character outside of brackets that ends it."""
    depth, at = 0, end
    while at > 0:
        character = code[at - 1]
        if character in CLOSE:
            depth += 1
        elif character in OPEN:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and (character in ",;?&|=<>!+*%/" and not code[at - 2:at] == "->"):
            break
        at -= 1
    operand = code[at:end].strip().removeprefix("return ").strip()
    return re.sub(r"^(?:if|for|while) \(.*\) (?=\w)", "", operand)


def right_operand(code: str, begin: int) -> str:
    depth, at = 0, begin
    while at < len(code):
        character = code[at]
        if character in OPEN:
            depth += 1
        elif character in CLOSE:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and (character in ",;?:&|=<>!+*%/" and code[at - 1:at + 1] != "->"
                             and code[at:at + 2] != "::" and code[at - 1:at + 1] != "::"):
            break
        at += 1
    return code[begin:at].strip()


def in_brackets(code: str, at: int) -> bool:
    """Whether a position is inside of [ ], and in no ( ) within them that ends before."""
    depth = 0
    while at > 0:
        at -= 1
        if code[at] in CLOSE:
            depth += 1
        elif code[at] in OPEN:
            if depth == 0 and code[at] == "[":
                return True
            if depth == 0 and code[at] == "{":
                return False
            depth = max(depth - 1, 0)
        elif code[at] == ";":
            return False
    return False


def is_small(operand: str) -> bool:
    while operand.startswith("(") and operand.endswith(")"):
        operand = operand[1:-1].strip()
    parts = [part.strip() for part in re.split(r"\s[-+*/%]\s", operand)]
    return all(SMALL.fullmatch(part) for part in parts)


def is_allowed(code: str, found: re.Match, books: bool) -> bool:
    left, right = left_operand(code, found.start()), right_operand(code, found.end())
    sign = found.group()
    if books and sign.startswith("+") and not OF_A_LAYOUT.search(left + " " + right):
        return True
    if '"' in left or '"' in right or "^" in left or in_brackets(code, found.start()):
        return True
    if sign.startswith("+") and (LITERAL.fullmatch(right) or LITERAL.fullmatch(left)):
        return True
    if sign == "+" and STEPS.search(left):
        return True
    return is_small(left) and is_small(right)


def spans_of_memory(code: str) -> Iterator[tuple[int, int]]:
    for found in TAKES_MEMORY.finditer(code):
        depth, at = 1, found.end()
        while at < len(code) and depth > 0:
            depth += (code[at] in OPEN) - (code[at] in CLOSE)
            at += 1
        yield found.end(), at


def offences_in(path: str, source: str) -> list[Offence]:
    marks = [found for found in map(MARK.search, source.splitlines()) if found]
    if any(found["file"] for found in marks):
        return []
    code, marked = without_text(source), marked_lines(source)
    kernel = any(path.startswith(folder + "/") for folder in KERNELS)
    books = any(path.startswith(folder + "/") for folder in BOOKS)
    spans = list(spans_of_memory(code)) if kernel else [(0, len(code))]
    found = []
    for operator in OPERATOR.finditer(code):
        line = code.count("\n", 0, operator.start()) + 1
        inside = any(begin <= operator.start() < end for begin, end in spans)
        if inside and line not in marked and not is_allowed(code, operator, books):
            text = f"{left_operand(code, operator.start())} {operator.group()} " \
                   f"{right_operand(code, operator.end())}"
            found.append(Offence(path, line, " ".join(text.split())))
    return found + ([] if kernel else algorithms_in(path, code, marked))


def algorithms_in(path: str, code: str, marked: set[int]) -> list[Offence]:
    lines = [(code.count("\n", 0, found.start()) + 1, found.group()) for found in ALGORITHM.finditer(code)]
    return [Offence(path, line, name) for line, name in lines if line not in marked]


def checked_files(root: Path) -> Iterator[Path]:
    for folder in PLANNERS:
        yield from sorted(path for path in (root / folder).rglob("*") if path.suffix in SUFFIXES)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    files = list(checked_files(root))
    offences = [each for path in files
                for each in offences_in(path.relative_to(root).as_posix(), path.read_text())]
    for each in offences:
        print(each)
    print(f"arithmetic: {len(files)} files, {len(offences)} bare products and sums")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
