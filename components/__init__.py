"""Pulumi components: thin shells that register what settings and manifests say."""
