"""The client's version, and which checkpoints it reads."""

from __future__ import annotations

VERSION = "0.1.0"
CLIENT = "oxgang-py " + VERSION  # as hello and checkpoints carry it


def check_readable(client: str) -> None:
    """Raises ValueError if a checkpoint of this client is not for us to read.

    A newer major version may have written what this one misunderstands.
    """
    version = client.rsplit(" ", 1)[-1]
    major = version.split(".", 1)[0]
    if not major.isdigit():
        raise ValueError(f"checkpoint of client {client!r}, want a version such as {CLIENT!r}")
    ours = VERSION.split(".", 1)[0]
    if int(major) > int(ours):
        raise ValueError(f"checkpoint of client {client!r}, want major version {ours} or older: upgrade oxgang")
