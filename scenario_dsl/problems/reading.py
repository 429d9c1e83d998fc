"""Files that are no text, and texts that are no YAML document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scenario_dsl.diagnostics import Diagnostic, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMissing(Diagnostic):
    code: ClassVar[str] = "file-missing"
    title: ClassVar[str] = "there is no such file"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileIsDirectory(Diagnostic):
    code: ClassVar[str] = "file-is-directory"
    title: ClassVar[str] = "this is a folder, not a document"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSpecial(Diagnostic):
    code: ClassVar[str] = "file-special"
    title: ClassVar[str] = "this is a device, pipe or socket, not a document"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDenied(Diagnostic):
    code: ClassVar[str] = "file-denied"
    title: ClassVar[str] = "this file may not be read"
    help: ClassVar[str] = "give yourself read permission, or run as its owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLoop(Diagnostic):
    code: ClassVar[str] = "file-loop"
    title: ClassVar[str] = "this symbolic link leads back to itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFailed(Diagnostic):
    code: ClassVar[str] = "file-failed"
    title: ClassVar[str] = "this file cannot be read: {detail}"
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHuge(Diagnostic):
    code: ClassVar[str] = "file-huge"
    title: ClassVar[str] = "this file is too large for a document ({detail} bytes)"
    help: ClassVar[str] = "a document has at most 1048576 bytes; long content belongs in a system's `files/` folder"
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEmpty(Diagnostic):
    code: ClassVar[str] = "file-empty"
    title: ClassVar[str] = "this file is empty"
    help: ClassVar[str] = "a document begins with `scenario:`, `fault:`, `system:`, `pack:` or `intervention:`"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEncoding(Diagnostic):
    code: ClassVar[str] = "text-encoding"
    title: ClassVar[str] = "byte {detail} is not UTF-8"
    caret: ClassVar[str] = "the first byte that cannot be read"
    help: ClassVar[str] = "save the file as UTF-8"
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextUtf16(Diagnostic):
    code: ClassVar[str] = "text-utf-16"
    title: ClassVar[str] = "this file is UTF-16"
    help: ClassVar[str] = "save the file as UTF-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextByteOrderMark(Diagnostic):
    code: ClassVar[str] = "text-byte-order-mark"
    title: ClassVar[str] = "this file begins with a byte order mark"
    caret: ClassVar[str] = "an invisible U+FEFF stands before this"
    help: ClassVar[str] = "save the file as UTF-8 without a byte order mark"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextNul(Diagnostic):
    code: ClassVar[str] = "text-nul"
    title: ClassVar[str] = "this file holds a NUL byte"
    caret: ClassVar[str] = "here"
    help: ClassVar[str] = "remove it; a document is text, and binary content cannot stand in it"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextControl(Diagnostic):
    code: ClassVar[str] = "text-control-character"
    title: ClassVar[str] = "YAML does not allow the character {detail}"
    caret: ClassVar[str] = "here"
    help: ClassVar[str] = 'remove it, or write it as an escape inside double quotes ("\\x1b")'
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlSyntax(Diagnostic):
    code: ClassVar[str] = "yaml-syntax"
    title: ClassVar[str] = "this is not YAML: {detail}"
    caret: ClassVar[str] = "not expected here"
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlTab(Diagnostic):
    code: ClassVar[str] = "yaml-tab"
    title: ClassVar[str] = "a tab stands where YAML wants spaces"
    caret: ClassVar[str] = "a tab"
    help: ClassVar[str] = "indent with spaces"


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlColonInText(Diagnostic):
    code: ClassVar[str] = "yaml-colon-in-text"
    title: ClassVar[str] = "plain text may not hold `: `"
    caret: ClassVar[str] = "YAML takes this colon for the end of a key"
    help: ClassVar[str] = "put the text into quotes, or write `{key}: |-` and the text on the next line, indented"
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlTextStart(Diagnostic):
    code: ClassVar[str] = "yaml-text-start"
    title: ClassVar[str] = "plain text may not begin with `{sign}`"
    caret: ClassVar[str] = "{meaning}"
    help: ClassVar[str] = "put the text into quotes, or write `|-` and the text on the next line, indented"
    sign: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlTextAfterValue(Diagnostic):
    code: ClassVar[str] = "yaml-text-after-value"
    title: ClassVar[str] = "something follows a value that had already ended"
    caret: ClassVar[str] = "the value ended before this"
    help: ClassVar[str] = (
        "put the whole text into one pair of quotes, or write `|-` and the text on the next line, indented"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlUnclosed(Diagnostic):
    code: ClassVar[str] = "yaml-unclosed"
    title: ClassVar[str] = "`{sign}` is never closed"
    caret: ClassVar[str] = "opened here"
    sign: str


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlCommentCutsText(Diagnostic):
    code: ClassVar[str] = "yaml-comment-cuts-text"
    severity: ClassVar[Severity] = "warning"
    title: ClassVar[str] = "YAML reads ` #` as a comment: the rest of this text is dropped"
    caret: ClassVar[str] = "not part of `{key}`"
    help: ClassVar[str] = "if it belongs to the text, quote the text or write `|-` and the text on the next line"
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlDuplicateKey(Diagnostic):
    code: ClassVar[str] = "yaml-duplicate-key"
    title: ClassVar[str] = "key `{key}` stands here twice"
    caret: ClassVar[str] = "given again"
    help: ClassVar[str] = "keep one of them; YAML would silently drop the first"
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlKeyNotText(Diagnostic):
    code: ClassVar[str] = "yaml-key-not-text"
    title: ClassVar[str] = "a key must be text, and this is {found}"
    caret: ClassVar[str] = "not text"
    help: ClassVar[str] = "put it into quotes if it is meant as a name"
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlBareTemplate(Diagnostic):
    code: ClassVar[str] = "yaml-bare-template"
    title: ClassVar[str] = "a value that begins with a template must be put into quotes"
    caret: ClassVar[str] = "YAML reads `{{{{` as two mappings"
    help: ClassVar[str] = 'write `"{written}"`'
    written: str


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlMergeKey(Diagnostic):
    code: ClassVar[str] = "yaml-merge-key"
    title: ClassVar[str] = "merge keys (`<<`) are not part of YAML 1.2"
    caret: ClassVar[str] = "a merge key"
    help: ClassVar[str] = "write the keys out"


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlAnchorUnknown(Diagnostic):
    code: ClassVar[str] = "yaml-unknown-anchor"
    title: ClassVar[str] = "nothing before this is anchored as `&{anchor}`"
    caret: ClassVar[str] = "an alias of nothing"
    help: ClassVar[str] = "if `*{anchor}` is meant as text, put it into quotes"
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlAnchorTwice(Diagnostic):
    code: ClassVar[str] = "yaml-anchor-twice"
    title: ClassVar[str] = "the anchor `&{anchor}` is given twice"
    caret: ClassVar[str] = "given again"
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlAliasCycle(Diagnostic):
    code: ClassVar[str] = "yaml-alias-cycle"
    title: ClassVar[str] = "`*{anchor}` stands inside the very thing that it stands for"
    caret: ClassVar[str] = "leads back to its own anchor"
    help: ClassVar[str] = "write the value out"
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlAliasBomb(Diagnostic):
    code: ClassVar[str] = "yaml-alias-bomb"
    title: ClassVar[str] = "aliases make this document grow beyond {most} values"
    caret: ClassVar[str] = "too much with this alias"
    help: ClassVar[str] = "write out what is really needed"
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlTooDeep(Diagnostic):
    code: ClassVar[str] = "yaml-too-deep"
    title: ClassVar[str] = "values are nested more than {most} deep"
    caret: ClassVar[str] = "one level too deep"
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlTooMany(Diagnostic):
    code: ClassVar[str] = "yaml-too-many-values"
    title: ClassVar[str] = "this document holds more than {most} values"
    caret: ClassVar[str] = "one too many"
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlSeveralDocuments(Diagnostic):
    code: ClassVar[str] = "yaml-several-documents"
    title: ClassVar[str] = "a second document begins here"
    caret: ClassVar[str] = "one file holds one document"
    help: ClassVar[str] = "move it to a file of its own"


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlTag(Diagnostic):
    code: ClassVar[str] = "yaml-tag"
    title: ClassVar[str] = "tags are not used here, and `{tag}` is one"
    caret: ClassVar[str] = "a tag"
    help: ClassVar[str] = "remove it; if it is the beginning of a text, put the text into quotes"
    tag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlDirective(Diagnostic):
    code: ClassVar[str] = "yaml-directive"
    title: ClassVar[str] = "this directive is not supported"
    caret: ClassVar[str] = "a directive"
    help: ClassVar[str] = "remove it; documents are YAML 1.2"


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlNumberRange(Diagnostic):
    code: ClassVar[str] = "yaml-number-range"
    title: ClassVar[str] = "this number cannot be kept exactly"
    caret: ClassVar[str] = "infinite, not a number, or above 2^53"
    help: ClassVar[str] = "put it into quotes if it is meant as text"


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlNotMapping(Diagnostic):
    code: ClassVar[str] = "yaml-not-a-mapping"
    title: ClassVar[str] = "a document is a mapping of keys, and this is {found}"
    caret: ClassVar[str] = "expected `key: value`"
    help: ClassVar[str] = "a document begins with `scenario:`, `fault:`, `system:`, `pack:` or `intervention:`"
    found: str
