"""Tables and plots to one self-contained page: no request leaves it, and nothing in a record can become markup."""

from reports.html.page import render

__all__ = ["render"]
