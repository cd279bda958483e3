"""The command lines of the three servers.

Flags were chosen by trying: this is the least that ValidatingAdmissionPolicies, RBAC, ServiceAccount tokens and
foreground deletion need. There are no nodes, so nothing that serves Pods runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LOOPBACK = "127.0.0.1"
CONTROLLERS = ("garbage-collector-controller", "namespace-controller", "serviceaccount-token-controller")


def etcd(binary: Path, data: Path, client_port: int, peer_port: int) -> list[str]:
    """Return etcd's command line. Its data are the lab's: losing the last second in a power cut is fine."""
    client, peer = f"http://{LOOPBACK}:{client_port}", f"http://{LOOPBACK}:{peer_port}"
    return [
        str(binary),
        f"--data-dir={data}",
        "--name=lab",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=lab={peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def api_server(binary: Path, data: Path, port: int, etcd_port: int) -> list[str]:
    """Return kube-apiserver's command line.

    The server writes its own CA and key into `data` at the first start and keeps them. The same key signs the tokens
    of ServiceAccounts: the lab needs no other tool to make one.
    """
    key = data / "apiserver.key"
    return [
        str(binary),
        f"--cert-dir={data}",
        f"--bind-address={LOOPBACK}",
        f"--advertise-address={LOOPBACK}",
        f"--secure-port={port}",
        f"--etcd-servers=http://{LOOPBACK}:{etcd_port}",
        f"--token-auth-file={data / 'tokens.csv'}",
        "--anonymous-auth=false",
        "--authorization-mode=RBAC",
        f"--service-account-signing-key-file={key}",
        f"--service-account-key-file={key}",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.95.0.0/16",
        "--disable-admission-plugins=ServiceAccount",  # it only matters for Pods
        "--endpoint-reconciler-type=none",  # it refuses loopback addresses
        "--profiling=false",
    ]


def controller_manager(binary: Path, data: Path, api_data: Path, port: int) -> list[str]:
    """Return kube-controller-manager's command line."""
    return [
        str(binary),
        f"--kubeconfig={data / 'kubeconfig'}",
        f"--cert-dir={data}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={port}",
        f"--controllers={','.join(CONTROLLERS)}",
        f"--service-account-private-key-file={api_data / 'apiserver.key'}",
        f"--root-ca-file={api_data / 'apiserver.crt'}",
        "--leader-elect=false",
        "--profiling=false",
    ]
