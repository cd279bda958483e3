"""The provider of the management cluster."""

from __future__ import annotations

from importlib.metadata import version

import pulumi


def management_provider(context: str, environment: str) -> pulumi.ProviderResource:
    """Register the Kubernetes provider with a context of whatever kubeconfig the run has.

    The SDK's own class would write the path of `KUBECONFIG` into the state, so that another machine would be a change;
    the plugin reads the variable itself. `environment` says which cluster this is: without it another address of the
    API server would replace every object.
    """
    inputs = {
        "context": context,
        "clusterIdentifier": environment,
        # A changed Secret is changed, not deleted and made anew: its controllers hold on to it with a finalizer.
        "enableSecretMutable": "true",
    }
    opts = pulumi.ResourceOptions(version=version("pulumi-kubernetes"))
    return pulumi.ProviderResource("kubernetes", "management", inputs, opts)
