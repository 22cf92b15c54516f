"""The client's version, and the checkpoints that it can read."""

from __future__ import annotations

VERSION = "0.1.0"
CLIENT = "oxgang-py " + VERSION  # as in hello and checkpoints


def check_readable(client: str) -> None:
    """Raises ValueError if this client cannot read a checkpoint.

    A newer major version may have changed the format.
    """
    version = client.rsplit(" ", 1)[-1]
    major = version.split(".", 1)[0]
    if not major.isdigit():
        raise ValueError(f"checkpoint of client {client!r}, want a version such as {CLIENT!r}")
    ours = VERSION.split(".", 1)[0]
    if int(major) > int(ours):
        raise ValueError(f"checkpoint of client {client!r}, want major version {ours} or older: upgrade oxgang")
