"""Tables to self-contained pages: no request leaves them, and nothing in a record can become markup."""

from reports.html.page import Story, pages

__all__ = ["Story", "pages"]
