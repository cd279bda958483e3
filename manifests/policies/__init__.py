"""The admission policies, one module each; `parts` holds what they share.

Their expressions keep to standard CEL, optional types and the strings extension, so that tests can evaluate them
without an API server.
"""
