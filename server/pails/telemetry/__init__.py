"""What Pails writes about itself: JSON lines with ids, without secrets."""

from pails.telemetry.logs import bind, close, configure
from pails.telemetry.secrets import mask

__all__ = ["bind", "close", "configure", "mask"]
