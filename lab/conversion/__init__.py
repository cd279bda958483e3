"""A stand-in for the conversion webhooks of capmox and Cluster API: older requests are judged in the lab too.

capmox 0.8 and later serve `v1alpha1` beside `v1alpha2`, and store the newer. This is not their code: it follows what
the reference says of it, as far as networks, pools, ranges and machines are concerned, and what a Cluster refers to.
"""

from lab.conversion.convert import ConversionError, convert
from lab.conversion.lifecycle import keep, stop
from lab.conversion.server import Webhook, install, serving

__all__ = ["ConversionError", "Webhook", "convert", "install", "keep", "serving", "stop"]
