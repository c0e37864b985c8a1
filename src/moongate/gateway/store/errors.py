"""What can be wrong with the store, whose fault it is and what to do.

    StoreError              503  the store cannot be used now
    ├── StoreBusy                somebody else holds a lock for too long: it may be tried again
    ├── StoreUnreachable         no file, no server, no network: it may be tried again
    ├── StoreFull                the disk is full
    ├── StoreDenied              wrong user, password or file permissions: the operator's
    ├── StoreCorrupt             the file is damaged: restore a backup
    └── StoreTooNew              a newer moongate has written it: the operator's

A message names the place (never the password in a URL) and says what to do.
"""

from __future__ import annotations

from moongate.errors import GatewayError


class StoreError(GatewayError):
    """The store cannot be used."""

    status = 503
    kind = "store_error"


class StoreBusy(StoreError):
    pass


class StoreUnreachable(StoreError):
    pass


class StoreFull(StoreError):
    pass


class StoreDenied(StoreError):
    pass


class StoreCorrupt(StoreError):
    pass


class StoreTooNew(StoreError):
    pass
