"""What can be set, where each value came from, and where Pails keeps its own files."""

from pails.config.layers import LoadedConfig, load
from pails.config.paths import Paths
from pails.config.settings import Config

__all__ = ["Config", "LoadedConfig", "Paths", "load"]
