"""One sheet of a report: a template filled in, with its style and script inside.

Everything that comes from records passes through jinja2's autoescape; only our own style, script and SVGs are markup.
The Content-Security-Policy allows our one script by its hash, and what that script itself loads, so that nothing else
could run even if it got in.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from reports.html.links import Links
from reports.plots import PALETTE
from reports.text import printable

_HERE = Path(__file__).parent
_VIEWER = ("parts.js", "terminal.js", "episode.js", "viewer.js")
"""The viewer's scripts; the last one begins, once all else is there."""
_BREAKS = "/:=_@"
_AT_BREAKS = re.compile(f"([{_BREAKS}])")


class Sheets:
    """Makes pages; one for a whole report, so that templates and style are read once."""

    def __init__(self) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(_HERE),
            autoescape=True,
            finalize=_fit,
            undefined=StrictUndefined,
            keep_trailing_newline=True,
            trim_blocks=True,
        )
        self._environment.filters["breakable"] = _breakable

    def fill(self, template: str, *, links: Links, viewer: bool = False, **content: object) -> bytes:
        """The page. `viewer`: with the script that loads episodes from their chunks."""
        scripts = ("page.js", *(_VIEWER if viewer else ()))
        styles = ("page.css", "viewer.css") if viewer else ("page.css",)
        script = "".join(_read(name) for name in scripts)
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        text = self._environment.get_template(template).render(
            links=links,
            style=Markup(_variables() + "".join(_read(name) for name in styles)),  # noqa: S704 (our own files)
            script=Markup(script),  # noqa: S704 (our own files)
            script_source=f"'sha256-{digest}'" + (" 'strict-dynamic'" if viewer else ""),
            **content,
        )
        return text.encode()


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _fit(value: object) -> object:
    """Whatever the template is about to print: text from records loses what cannot or should not be printed."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _breakable(text: str) -> Markup:
    """The text, escaped, with places where a long name may go on in the next line."""
    return Markup("").join(
        part + Markup("<wbr>") if part in _BREAKS else part for part in _AT_BREAKS.split(printable(text))
    )


def _variables() -> str:
    """The colours that page and plots share."""
    colours = "".join(f"--{name}:light-dark({light},{dark});" for name, light, dark in PALETTE.values())
    return f":root{{{colours}}}\n"
