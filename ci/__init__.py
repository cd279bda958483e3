"""Judge a pull request by the protected branch: all that runs is the base's, only tenants' stack files are taken.

Pure work on git's objects and plain data; the engine is a child process. No Pulumi import.
"""
