"""No test answers from what another one left: those of the cache turn it on themselves."""

from __future__ import annotations

import os

os.environ["TRITON_MUTLINT_NO_CACHE"] = "1"
