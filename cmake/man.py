# SPDX-License-Identifier: MIT
"""Write a page of doc/man as a man page in roff.

It knows the Markdown that the pages use: headings, paragraphs, lists, definitions, tables, indented code, bold, italics.
"<!-- include FILE N -->" is the section "## N. TITLE" of FILE, without this heading.

usage: man.py PAGE.md VERSION OUTPUT
"""
import os
import re
import sys

INCLUDE = re.compile(r"<!-- include (\S+) (\d+) -->")
ESCAPED = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti", '"': "\\(dq"}
MARKUP = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<bold>(?:\\.|[^*\\]|\*(?!\*))+)\*\*|(?<![\w*])\*(?P<italic>[^*\s](?:[^*]*[^*\s])?)\*(?!\*)"
                    r"|(?<!\w)_(?P<under>[A-Z]+)_(?!\w)|\[(?P<link>[^\]]+)\]\([^)]*\)|\\(?P<plain>[*_\\`])")


def plain(text):
    """Text without special characters of roff."""
    return "".join(ESCAPED.get(c, c) for c in text)


def inline(text):
    """Text with bold and italics."""
    out, at = "", 0
    for m in MARKUP.finditer(text):
        kind, inner = m.lastgroup, m[m.lastgroup]
        out += plain(text[at:m.start()])
        font = {"code": "B", "bold": "B", "italic": "I", "under": "I"}.get(kind)
        inner = re.sub(r"\\([*_\\`])", r"\1", inner) if kind != "code" else inner
        out += f"\\f{font}{plain(inner)}\\fR" if font else plain(inner)
        at = m.end()
    return out + plain(text[at:])


def line(text):
    """A line of text, which is no request."""
    text = inline(" ".join(text.split()))
    return "\\&" + text if text[:1] in (".", "'") else text


def paragraph(lines, at, indent):
    """The text of the paragraph at lines[at], and where it ends."""
    text = []
    while at < len(lines) and lines[at].strip() and len(lines[at]) - len(lines[at].lstrip()) >= indent:
        if text and re.match(r"\s*(?:- |\d+\. |:   |#|\|)", lines[at]):
            break
        text.append(lines[at].strip())
        at += 1
    return " ".join(text), at


def section(path, number):
    """The text of a numbered section of a document."""
    with open(path, encoding="utf-8") as f:
        found = re.search(rf"^## {number}\. .*?\n(.*?)(?=^## |\Z)", f.read(), re.M | re.S)
    if not found:
        raise ValueError(f"{path} has no section {number}")
    return found[1].strip()


def read(path):
    """The text of a page, with its included sections."""
    folder = os.path.dirname(path)
    with open(path, encoding="utf-8") as f:
        return INCLUDE.sub(lambda m: section(os.path.join(folder, m[1]), m[2]), f.read())


def entry(head, cells):
    """A row of a table, as a definition. Each further cell of a wide table begins with the head of its column."""
    if len(cells) == 2:
        return [".TP", line(cells[0]), line(cells[1])]
    texts = [line(f"{h}: {c}" if h else c) for h, c in zip(head[1:], cells[1:])]
    return [".TP", line(cells[0]), *"\n.br\n".join(texts).split("\n")]


def convert(text, version):
    """The page in roff."""
    lines = re.sub(r"(?s)<!--.*?-->", "", text).split("\n")
    out, at, nested, defining, head = [], 0, False, False, []

    def nest(wanted):
        nonlocal nested
        if wanted != nested:
            out.append(".RS" if wanted else ".RE")
        nested = wanted

    while at < len(lines):
        row = lines[at]
        item = re.match(r"( *)(-|\d+\.) +(.*)", row)
        if not row.strip():
            at += 1
            continue
        inside = row.startswith("    ") and defining
        nest(inside and bool(item))
        if not row.startswith((" ", ":")):
            defining = False
        if row.startswith("# "):
            name, section = re.fullmatch(r"# (\S+)\((\d)\)", row).groups()
            out += ['.\\" t', f'.TH {name} {section} "" "ptcap {version}"', ".nh", ".ad l"]
        elif row.startswith("### "):
            out.append(f'.SS "{line(row[4:])}"')
        elif row.startswith("## "):
            out.append(f'.SH "{line(row[3:])}"')
        elif row.startswith("|"):
            cells = [c.strip() for c in row.strip("|").split("|")]
            if not lines[at - 1].startswith("|"):
                head = cells
            elif not re.fullmatch(r"[-| ]+", row):  # the rule below the head
                out += entry(head, cells)
        elif item:
            body, at = paragraph(lines, at, len(item[1]))
            mark = "\\(bu" if item[2] == "-" else item[2]
            out += [f".IP {mark} {3 if item[2] == '-' else 4}", line(body.split(" ", 1)[1])]
            continue
        elif row.startswith(":   "):
            body, at = paragraph(lines, at, 0)
            term, out[-2:] = out[-1], []
            out += [".TP", term, line(body[4:])]
            defining = True
            continue
        elif row.startswith("    ") and not inside:
            out += [".PP", ".RS 4", ".nf"]
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                code = plain(lines[at][4:])
                out.append("\\&" + code if code[:1] in (".", "\\") else code)
                at += 1
            while not out[-1]:
                out.pop()
            out += [".fi", ".RE"]
            continue
        else:
            body, at = paragraph(lines, at, 4 if inside else 0)
            out += ['.IP ""' if inside else ".PP", line(body)]
            continue
        at += 1
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    page = convert(read(sys.argv[1]), sys.argv[2])
    with open(sys.argv[3], "w", encoding="utf-8") as f:
        f.write(page)
