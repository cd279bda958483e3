"""Settings to Kubernetes objects, as plain dicts. Imports no Pulumi."""
