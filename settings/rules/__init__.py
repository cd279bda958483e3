"""The rules of the stack files, one module a concern; each rule yields the problems it finds."""
