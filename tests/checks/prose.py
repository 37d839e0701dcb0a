# SPDX-License-Identifier: MIT
"""Every text for a reader keeps the rules of doc/style.md that a program can check.

It reads Markdown files, comments of C files, and the messages and help texts in C strings. A
sentence has at most 30 words. In a sentence of eight or more words, fewer than a fifth are
pronouns. No phrase of BANNED occurs.

usage: prose.py SOURCE_DIR [FILE...]    with FILEs (relative to SOURCE_DIR): only these
"""
import os
import re
import sys

from common import TOKEN, finish, prove, sources

MAX_WORDS = 30
PRONOUN = re.compile(r"(?:it|they|them|that|those|what|who|whom|whose|whoever|whatever|one|ones|nobody|somebody|there|so)$", re.I)
WORD = re.compile(r"[A-Za-z0-9_'][\w'./:-]*")
BANNED = re.compile(r"""(?x)\b(?:
    transfers?[ ]of[ ]control | side[ ]records? | held[ ]against | hold[ ]against | goes[ ]round | milliards? | hardwar
    | which[ ]is[ ](?:told|said|noted) | (?:and|that)[ ]is[ ](?:told|said) | is[ ]told | are[ ]told | what[ ]is[ ]there
    | those[ ](?:that|who|which) | whoever | whatever | as[ ]it[ ]were | but[ ]for | save[ ](?:that|those) | unasked
    | is[ ]of[ ]no[ ]use | makes?[ ]up[ ]for | thence | whence | meanwhile[ ]too | as[ ]good[ ]as | there[ ]and[ ]then
    )\b""", re.I)
# Messages that are values in the JSON output, which stays as it is within a version of its schema (doc/json.md).
KEPT = (
    "the AUXTRACE feature lists a record that is not there", "the ledger is too short for what it claims",
    "%s has %zu bytes behind what is known of it", "there is a data.%u, and no DIR_FORMAT that tells of it",
    " are told of, or left out, and are not there", " ns older than what FINISHED_ROUND let go before it",
    "the ratio is told as %", "it ends within its header, as one that is being written does",
    "it ends within a record, as one that is being written does", "side records, or the end of what is wanted",
)
DOCUMENTS = ("doc", "tests", "bench", "examples", "traces")
MESSAGES = ("base", "arch", "auxtrace", "capture", "decode", "cli")


def documents(root):
    found = [n for n in os.listdir(root) if n.endswith(".md")]
    for folder in DOCUMENTS + MESSAGES:
        for where, dirs, names in os.walk(os.path.join(root, folder)):
            dirs[:] = [d for d in dirs if d not in ("lab", "build")]  # lab: raw measurements
            found += [os.path.relpath(os.path.join(where, n), root) for n in names if n.endswith(".md")]
    return sorted(found)


def paragraphs(text):
    """Return (line, text) of each paragraph, item, heading and table cell of a Markdown text; code
    counts as a word."""
    text = re.sub(r"(?ms)^( *)```.*?^\1```[^\n]*$", lambda m: "\n" * m.group(0).count("\n"), text)
    text = re.sub(r"(?s)<!--.*?-->", lambda m: "\n" * m.group(0).count("\n"), text)
    found, begin, lines = [], 0, []
    in_item = False
    for number, line in enumerate(text.split("\n") + [""], 1):
        bare = line.strip()
        indented = line.startswith(("    ", "\t")) and not lines and not in_item
        if re.match(r"(?:[-*+]|\d+[.)]|#+|:|>)\s", bare) or not bare or bare.startswith("|") or indented:
            if lines:
                found.append((begin, " ".join(lines)))
            lines = []
        if re.match(r"(?:[-*+]|\d+[.)]|:)\s", bare):
            in_item = True
        elif bare and not line.startswith((" ", "\t")):
            in_item = False
        if not bare or indented:
            continue
        if bare.startswith("|"):
            found += [(number, cell.strip()) for cell in re.split(r"(?<!\\)\|", bare) if cell.strip(" -:")]
            continue
        if not lines:
            begin = number
        lines.append(re.sub(r"^(?:(?:[-*+]|\d+[.)]|#+|:|>)\s+)+", "", bare))
    out = []
    for number, t in found:
        if t.startswith("Before: "):  # doc/style.md shows what not to write
            continue
        t = re.sub(r"`[^`]*`", "CODE", t)
        t = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", t)
        out.append((number, t.replace("**", "").replace("*", "").replace("\\", "")))
    return out


def comments(text):
    """Yield (line, text) of each paragraph of each comment of a C text."""
    for m in TOKEN.finditer(text):
        t = m.group(0)
        if t[0] != "/" or "SPDX" in t or "Copyright" in t or "clang-format" in t:
            continue
        line = text.count("\n", 0, m.start()) + 1
        inner = t[2:-2] if t[1] == "*" else t[2:]
        rows = [re.sub(r"^\s*\*\s?", "", row).rstrip() for row in inner.split("\n")]
        begin, held = line, []
        for i, row in enumerate(rows + [""]):
            # A table, a list or a line of code in a comment is not a sentence.
            apart = not row.strip() or re.match(r"\s*(?:[-*]|\d+[.)])\s", row)
            if apart or "   " in row.strip():
                if held:
                    yield begin, " ".join(held)
                held = []
                if not row.strip() or not apart:
                    continue
            if not held:
                begin = line + i
            held.append(row.strip())


LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')
JOINED = re.compile(r'"(?:\\.|[^"\\\n])*"(?:\s*(?:[A-Z][A-Z0-9_]*\s*)?"(?:\\.|[^"\\\n])*")*')


def messages(text):
    """Yield (line, text) of each line of the strings of a C text."""
    bare = TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)) if m.group(0)[0] == "/" else m.group(0), text)
    for m in JOINED.finditer(bare):
        whole = "".join(part if part[:1] != '"' else LITERAL.match(part).group(1)
                        for part in re.findall(r'"(?:\\.|[^"\\\n])*"|[A-Z][A-Z0-9_]*', m.group(0)))
        line = bare.count("\n", 0, m.start()) + 1
        # A help text: an option's column, then its sentence, which continues in the column below.
        whole = re.sub(r"\\n {20,}(?=\S)", " ", whole.replace("\\t", " ").replace('\\"', '"'))
        whole = re.sub(r"(\S)\\n(?=[^\\\s])", r"\1 ", whole)
        for part in re.split(r"(?:\\n)+", whole):
            part = re.sub(r"^\s*-[^ ].*?(?:\s{2,}|$)", "", part)
            yield line, part


def sentences(text):
    for s in re.split(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[A-Z@`])|(?<=[:;])\s+", text):
        yield s


def faults_of(path, paras, shares=True):
    out = []
    for line, text in paras:
        if text in KEPT:
            continue
        m = BANNED.search(text)
        if m:
            out.append(f"{path}:{line}: '{m.group(0)}': {text[:90]}")
        for s in sentences(text):
            words = WORD.findall(s)
            if len(words) > MAX_WORDS:
                out.append(f"{path}:{line}: a sentence of {len(words)} words: {s[:90]}")
        words = WORD.findall(text)
        if shares and len(words) >= 8:
            pronouns = sum(bool(PRONOUN.match(w)) for w in words)
            if pronouns * 5 >= len(words):
                out.append(f"{path}:{line}: {pronouns} pronouns in {len(words)} words: {text[:90]}")
    return out


def check(root, only=()):
    out = []
    for path in documents(root):
        if not only or path in only:
            with open(os.path.join(root, path), encoding="utf-8") as f:
                text = f.read()
            out += faults_of(path, [(line, s) for line, t in paragraphs(text) for s in sentences(t)])
    for path in sources(root):
        if only and path not in only:
            continue
        with open(os.path.join(root, path), encoding="utf-8") as f:
            text = f.read()
        out += faults_of(path, comments(text))
        if path.split("/")[0] in MESSAGES:
            out += faults_of(path, messages(text))
    return out


LONG = " ".join(["word"] * 31)
GOOD = {
    "README.md": "# A title\n\nOne sentence. Another one; it has\ntwo lines.\n\n    $ code " + LONG + "\n\n- " + " ".join(["word"] * 20)
                 + "\n- " + " ".join(["word"] * 20) + "\n\n| a | " + " ".join(["word"] * 20) + " | " + " ".join(["word"] * 20) + " |\n",
    "cli/a.c": '/* Returns 0. */\n/*\n * One row:\n *   a   b\n */\nint f(void) { return say("cannot open \'%s\': " X " bytes", 1); }\n',
}
BAD = [
    ("README.md", LONG + ".\n"), ("doc/man/x.1.md", "# X\n\n:   " + LONG + ".\n"),
    ("doc/a.md", "It is so that those who have what they want keep it.\n"),
    ("base/a.h", "/* What is behind it is there for whoever loads what is stored. */\n"),
    ("base/b.h", "/*\n * " + LONG.replace("word word word", "word word\n * word", 1) + "\n */\n"),
    ("cli/b.c", 'int f(void) { return say("all transfers of control", 1); }\n'),
    ("cli/c.c", 'int f(void) { return say("' + LONG[:70] + ' "\n\t"' + LONG[70:] + '", 1); }\n'),
    ("tests/unit/base/a.c", "/* side records are sorted */\n"),
]

if __name__ == "__main__":
    prove(check, GOOD, BAD)
    finish(check(sys.argv[1], sys.argv[2:]), not documents(sys.argv[1]))
