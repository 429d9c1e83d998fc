"""Records to frames, tables, plots and pages.

Invariant: a report reads records and nothing else; the same records give the same bytes.
"""

from reports.frames import Frames, load

__all__ = ["Frames", "load"]
