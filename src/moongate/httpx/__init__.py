"""Transports for httpx and httpx2, so for every SDK that is built on them: Kimi's repairs without a gateway.

>>> import moongate.httpx
>>> transport = moongate.httpx.KimiTransport()  # httpx.Client(transport=transport)

Neither of the two libraries is imported here: a transport uses the one whose client calls it.
"""

from moongate.httpx.report import AnswerReport
from moongate.httpx.transports import AsyncKimiTransport, KimiTransport

__all__ = ["AnswerReport", "AsyncKimiTransport", "KimiTransport"]
