"""The page that tells how to apply a rendered guard and how to run its suites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.chainsaw import CONVERTED, IDENTITIES, PLAIN, SCRATCH, users
from manifests.common import tenant_namespaces

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from manifests.guard_cases import Case
    from manifests.manifest import Manifest
    from settings.stack import EnvironmentSettings

_TEXT = """# The guard of environment `{stack}`

Rendered for generation `{generation}` of Cluster API: {count} objects that keep each tenant's machines on the networks
that the platform gave it, and {denied} requests that they must refuse, each with a twin that they must let pass.
Change the environment file and render again rather than editing here.{audit}

## Apply

The management cluster has Kubernetes 1.30 or newer, the CRDs of Cluster API, capmox, the in-cluster IPAM provider and
Kamaji's provider in the versions of `{generation}`, and the namespaces {namespaces}.

```sh
kubectl apply --server-side {definitions}
kubectl wait --for=condition=Established {established}
kubectl apply --server-side -k .
```

Policies take effect a second or two after their bindings are made; for up to half a minute after the definitions are
new a policy may refuse everything that it matches ("failed to configure policy").
To take the guard away, delete in the reverse order: bindings first, definitions last.

## Check

[Chainsaw](https://kyverno.github.io/chainsaw/) sends the requests; no controller needs to run. What it sends is a dry
run, but for the objects on which an update is tried: those are made, with `cluster.x-k8s.io/paused` on them, and
deleted.

```sh
chainsaw test --parallel 8 --test-dir {plain}
```

`{identities}` sends requests as other users. It needs a kubeconfig of each, which an administrator who may
impersonate them makes from their own:

```sh
KEYS=$(mktemp -d)
kubectl config view --raw --minify -o json > $KEYS/admin
{kubeconfigs}
chainsaw test --parallel 8 --test-dir {identities} {flags}
```

`{scratch}` tries updates of objects that are older than the guard. It is for a cluster to try things on: make them
before the guard (`kubectl apply --server-side -f {scratch}/objects.yaml`), and run it with the same kubeconfigs:

```sh
chainsaw test --parallel 8 --test-dir {scratch} {flags}
```{converted}
"""

_CONVERTED = f"""

`{CONVERTED}` asks in the older version of capmox's API, which the server converts before it judges: capmox's own
webhook must run.

```sh
chainsaw test --parallel 8 --test-dir {CONVERTED}
```"""

_AUDIT = """

**Mode `audit`:** {what} lets everything pass with a warning. Tests of its refusals fail until its mode is `enforce`."""

_DEFINITION = "CustomResourceDefinition"


def readme(
    settings: EnvironmentSettings, objects: Sequence[Manifest], cases: Sequence[Case], paths: Iterable[str]
) -> str:
    """Give the page; `paths` are the other files of the folder."""
    environment = settings.environment
    definitions = [item.body["metadata"]["name"] for item in objects if item.kind == _DEFINITION]
    known = users(cases, environment)
    return _TEXT.format(
        stack=settings.stack,
        generation=environment.management.generation,
        count=len(objects),
        denied=sum(case.verdict == "deny" for case in cases),
        namespaces=", ".join(f"`{name}`" for name in tenant_namespaces(environment)) or "of the tenants (none)",
        audit=_audit(settings),
        definitions=" ".join(f"-f _cluster/{_DEFINITION.lower()}.{name}.yaml" for name in definitions),
        established=" ".join(f"crd/{name}" for name in definitions),
        plain=PLAIN,
        identities=IDENTITIES,
        scratch=SCRATCH,
        converted=_CONVERTED if any(path.startswith(CONVERTED) for path in paths) else "",
        kubeconfigs="\n".join(_impersonating(name, user) for name, user in known.items()),
        flags=" ".join(f"--cluster {name}=$KEYS/{name}" for name in known),
    )


def _impersonating(name: str, user: str) -> str:
    # The group gives the rights: what is tried is the policies, which look at the user's name.
    change = f'.users[0].user += {{"as": "{user}", "as-groups": ["system:masters"]}}'
    return f"jq '{change}' $KEYS/admin > $KEYS/{name}"


def _audit(settings: EnvironmentSettings) -> str:
    management, zones = settings.environment.management, settings.environment.zones
    parts = [f"zone `{name}`" for name, zone in sorted(zones.items()) if zone.mode == "audit"]
    if management.guard == "audit":
        parts.append("everything that belongs to no zone, but for tenants' Secrets,")
    return _AUDIT.format(what=" and ".join(parts)) if parts else ""
