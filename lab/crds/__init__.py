"""The kinds of the management cluster in the lab: upstream CRDs from a folder, or permissive stand-ins."""

from lab.crds.apply import CrdError, load, loaded, namespaces

__all__ = ["CrdError", "load", "loaded", "namespaces"]
