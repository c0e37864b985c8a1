"""A certificate authority for one test run, and certificates that it signs. Made with the openssl command."""

from __future__ import annotations

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

# Python 3.13 refuses authorities without a key usage, and certificates that do not name the key of their authority.
CA_KEY_USAGE = "keyUsage=critical,keyCertSign,cRLSign"
EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


@dataclass(frozen=True, slots=True)
class CertificateAuthority:
    """`file` is its own certificate."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> CertificateAuthority:
        made = cls(folder)
        files = ["-keyout", made._path("ca.key"), "-out", made.file]
        _openssl("req", "-x509", *EC, *files, "-subj", "/CN=test authority", "-addext", CA_KEY_USAGE)
        return made

    @property
    def file(self) -> str:
        return self._path("ca.pem")

    def sign(self, name: str) -> tuple[str, str]:
        """The files of a certificate for this name and of its key."""
        cert, key, request, more = (self._path(f"{name}.{end}") for end in ("pem", "key", "csr", "ext"))
        Path(more).write_text(f"subjectAltName=DNS:{name}\nauthorityKeyIdentifier=keyid\n")
        _openssl("req", *EC, "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        signed = ["-CA", self.file, "-CAkey", self._path("ca.key"), "-CAcreateserial", "-days", "2", "-extfile", more]
        _openssl("x509", "-req", "-in", request, "-out", cert, *signed)
        return cert, key

    def server_context(self, *, asks_clients: bool = False) -> ssl.SSLContext:
        """For a server at `localhost`; it may take only clients with a certificate of this authority."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.sign("localhost"))
        if asks_clients:
            context.load_verify_locations(self.file)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def _path(self, name: str) -> str:
        return str(self.folder / name)


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
