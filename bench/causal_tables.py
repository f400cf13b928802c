# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Rows of bench/causal as tables in Markdown: a line for each program, with the value that is furthest off of its subs."""
import sys


def furthest(rows, column, score, ideal):
    """The cell of some rows. It is bold where the score misses its goal, in brackets where that is not known."""
    told = [(row[-1].endswith("missed") and score in row[-1], abs(float(row[column].replace(",", " ").split()[0]) - ideal), row)
            for row in rows if row[column] != "-"]
    if not told:
        return "-"
    is_missed, _, row = max(told, key=lambda each: each[:2])
    return f"**{row[column]}**" if is_missed else f"({row[column]})" if row[-1].startswith("too ") else row[column]


def groups(rows, key):
    found = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def by_program(rows, mode_of, column, score, ideal):
    """A line for each program, a column for each mode."""
    modes = list(groups(rows, mode_of))
    yield ["program", *modes]
    for program, its_rows in groups(rows, lambda row: row[0]).items():
        yield [program, *(furthest([row for row in its_rows if mode_of(row) == mode], column, score, ideal) for mode in modes)]


def by_mode(rows, head):
    """A line for each mode, a column for each score."""
    columns = [column for column, name in enumerate(head) if column > 3 and name]
    yield ["mode", "subs", "met", *(head[column] for column in columns)]
    for mode, its_rows in groups(rows, lambda row: row[3]).items():
        yield [mode, str(len(its_rows)), str(sum(row[-1] == "met" for row in its_rows)),
               *(furthest(its_rows, column, head[column].split()[0], column in (4, 5)) for column in columns)]


def added(path, rows):
    """The rows of a file and these, which are added to it."""
    with open(path, "a+", encoding="utf-8") as kept:
        kept.writelines("\t".join(row) + "\n" for row in rows)
        kept.seek(0)
        return [line.rstrip("\n").split("\t") for line in kept]


def markdown(lines):
    head, *rest = lines
    return "".join(f"| {' | '.join(words)} |\n" for words in (head, ["---"] * len(head), *rest))


def write(path, way, text):
    """Puts the text between two comments of a Markdown file, of which the first names the way it is made."""
    begin, end = f"<!-- made by bench/causal{way} -->\n", "<!-- end -->"
    with open(path, encoding="utf-8") as source:
        before, found, rest = source.read().partition(begin)
    if not found or end not in rest:
        sys.exit(f"{path}: there is no {begin.strip()} with {end}")
    with open(path, "w", encoding="utf-8") as out:
        out.write(before + begin + text + rest[rest.index(end):])
