"""Tokens of an AWK program, cut by mawk's rules."""

from __future__ import annotations

import re
from typing import NamedTuple


class AwkError(Exception):
    """Ends the program with status 2; the text is mawk's, without the program's name."""


class Token(NamedTuple):
    """`kind`: number, string, regex, name, call (a name right before its bracket), builtin, keyword, newline, eof, or
    the operator itself. `text`: what messages show; `value`: what it stands for."""

    kind: str
    text: str
    value: str
    line: int


_KEYWORD_LIST = (
    "BEGIN END function func if else while for do break continue next nextfile exit return delete in getline print "
    "printf"
)
_BUILTIN_LIST = (
    "length substr index split sub gsub match sprintf sin cos atan2 exp log sqrt int rand srand tolower toupper system "
    "close fflush strftime systime mktime"
)
_OPERATOR_LIST = "{ } ( ) [ ] ; , + - * / % ^ ! > < | ? : ~ $ = += -= *= /= %= ^= == <= >= != ++ -- && || >> !~ &"
KEYWORDS = frozenset(_KEYWORD_LIST.split())
BUILTINS = frozenset(_BUILTIN_LIST.split())
_OPERATORS = sorted(_OPERATOR_LIST.split(), key=len, reverse=True)
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_BLANK = re.compile(r"(?:[ \t\r\f\v]|\\\r?\n|#[^\n]*)+")
_ENDS_OPERAND = frozenset({"number", "string", "regex", "name", "builtin", ")", "]", "$", "++", "--"})
_SIMPLE = {
    "n": "\n", "t": "\t", "\\": "\\", '"': '"', "a": "\a", "b": "\b", "f": "\f", "r": "\r", "v": "\v",
    "/": "\\/",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|(.)|$)", re.DOTALL)


def unescape(text: str) -> str:
    """The value of a string's inside. What is not an escape keeps its backslash."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    if found[1] is not None:
        return chr(int(found[1], 16))
    if found[2] is not None:
        return chr(int(found[2], 8) & 0xFF)
    char = found[3]
    if char is None:
        return "\\"
    if char == "\n":
        return ""
    return _SIMPLE.get(char, "\\" + char)


def tokenize(text: str) -> list[Token]:
    """All tokens, with a newline and the end after the last. AwkError for what no token begins with."""
    tokens: list[Token] = []
    line, index, end = 1, 0, len(text)
    while index < end:
        blank = _BLANK.match(text, index)
        if blank is not None:
            line += blank[0].count("\n")
            index = blank.end()
            continue
        char = text[index]
        before = tokens[-1].kind if tokens else "newline"
        if char == "\n":
            tokens.append(Token("newline", "end of line", "\n", line))
            line += 1
            index += 1
        elif char == '"':
            token, index = _string(text, index, line)
            tokens.append(token)
        elif char == "/" and before not in _ENDS_OPERAND:
            token, index = _regex(text, index, line)
            tokens.append(token)
        elif number := _NUMBER.match(text, index):
            tokens.append(Token("number", number[0], number[0], line))
            index = number.end()
        elif name := _NAME.match(text, index):
            tokens.append(_word(name[0], text[name.end() : name.end() + 1], line))
            index = name.end()
        else:
            operator = next((known for known in _OPERATORS if text.startswith(known, index)), None)
            if operator is None:
                raise AwkError(f"{line}: unexpected character '{char}'")
            tokens.append(Token(operator, operator, operator, line))
            index += len(operator)
    tokens.append(Token("newline", "end of line", "\n", line))
    tokens.append(Token("eof", "end of file", "", line + 1))
    return tokens


def _word(name: str, following: str, line: int) -> Token:
    if name in KEYWORDS:
        return Token("function" if name == "func" else name, name, name, line)
    if name in BUILTINS:
        return Token("builtin", name, name, line)
    return Token("call" if following == "(" else "name", name, name, line)


def _string(text: str, start: int, line: int) -> tuple[Token, int]:
    index = start + 1
    while index < len(text) and text[index] != '"':
        if text[index] == "\n":
            break
        index += 2 if text[index] == "\\" else 1
    if index >= len(text) or text[index] == "\n":
        raise AwkError(f"line {line}: runaway string constant {text[start:].splitlines()[0][:20]} ...")
    raw = text[start + 1 : index]
    return Token("string", f'"{raw}"', unescape(raw), line), index + 1


def _regex(text: str, start: int, line: int) -> tuple[Token, int]:
    index = start + 1
    in_bracket = False
    while index < len(text) and text[index] != "\n":
        char = text[index]
        if char == "\\":
            index += 2
            continue
        if char == "/" and not in_bracket:
            raw = text[start + 1 : index]
            return Token("regex", f"/{raw}/", raw.replace("\\/", "/"), line), index + 1
        if char == "[" and not in_bracket:
            in_bracket = True
            index += 1
            if text[index : index + 1] == "^":
                index += 1
            if text[index : index + 1] == "]":
                index += 1
            continue
        if char == "[" and text[index + 1 : index + 2] == ":":
            close = text.find(":]", index)
            if close > 0:
                index = close + 2
                continue
        if char == "]":
            in_bracket = False
        index += 1
    raise AwkError(f"line {line}: runaway regular expression {text[start:].splitlines()[0][:20]} ...")
