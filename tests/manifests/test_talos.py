from __future__ import annotations

from typing import Any

from ruamel.yaml import YAML

from manifests.talos import machine_config
from settings.machines import machines
from tests.manifests.examples import Changes, tenant


def config(pool: str, changes: Changes | None = None, around: Changes | None = None) -> dict[str, Any]:
    settings = tenant("acme", changes, around)
    made = machines(settings, "prod", pool)
    text = machine_config(settings, "prod", pool, made[0] if made else None)
    read: dict[str, Any] = YAML(typ="safe", pure=True).load(text)
    return read


def test_a_cluster_api_machine_gets_no_address_of_its_own() -> None:
    machine = config("lab")["machine"]
    assert "network" not in machine
    assert machine["type"] == "worker"
    assert machine["install"] == {"disk": "/dev/sda", "wipe": False}
    assert machine["kubelet"]["nodeIP"] == {"validSubnets": ["10.201.0.0/24"]}
    assert "extraArgs" not in machine["kubelet"]
    assert machine["kubelet"]["extraConfig"]["systemReserved"] == {"cpu": "200m", "memory": "409Mi"}


def test_a_machine_of_our_own_has_hostname_address_and_the_small_mtu_of_its_uplink() -> None:
    network = config("dc")["machine"]["network"]
    assert network == {
        "hostname": "prod-dc-0",
        "interfaces": [
            {
                "deviceSelector": {"physical": True},
                "dhcp": False,
                "addresses": ["10.231.0.20/24"],
                "routes": [{"network": "0.0.0.0/0", "gateway": "10.231.0.1"}],
                "mtu": 1396,
            }
        ],
        "nameservers": ["10.231.0.1"],
    }


def test_each_machine_of_a_pool_differs_only_in_its_name_and_address() -> None:
    settings = tenant("acme")
    texts = [machine_config(settings, "prod", "dc", machine) for machine in machines(settings, "prod", "dc")]
    assert len(set(texts)) == 3
    same = texts[0].replace("prod-dc-0", "prod-dc-2").replace("10.231.0.20/24", "10.231.0.22/24")
    assert same == texts[2]


def test_a_cloud_server_waits_for_its_cloud_controller_and_uses_its_private_address() -> None:
    machine = config("cloud")["machine"]
    assert machine["network"] == {"hostname": "prod-cloud-0"}
    assert machine["kubelet"] == {
        "image": "ghcr.io/siderolabs/kubelet:v1.35.6",
        "nodeIP": {"validSubnets": ["10.100.1.0/24"]},
        "extraArgs": {"cloud-provider": "external"},
    }


def test_the_kubelet_is_of_the_clusters_version_and_not_of_talos_own_choice() -> None:
    kubelet = config("lab", {"clusters.prod.kubernetes": "v1.34.9"})["machine"]["kubelet"]
    assert kubelet["image"].endswith(":v1.34.9")


def test_every_worker_carries_location_pool_and_region_whichever_backend_made_it() -> None:
    found = {pool: config(pool)["machine"]["nodeLabels"] for pool in ("lab", "dc", "cloud")}
    assert found == {
        "lab": {
            "node.cluster.x-k8s.io/location": "lab",
            "node.cluster.x-k8s.io/pool": "lab",
            "topology.kubernetes.io/region": "lab",
        },
        "dc": {
            "node.cluster.x-k8s.io/location": "dc",
            "node.cluster.x-k8s.io/pool": "dc",
            "tier": "db",
            "topology.kubernetes.io/region": "dc",
        },
        "cloud": {
            "node.cluster.x-k8s.io/location": "fsn1",
            "node.cluster.x-k8s.io/pool": "cloud",
            "topology.kubernetes.io/region": "fsn1",
        },
    }


def test_the_region_is_what_the_location_says() -> None:
    labels = config("lab", around={"locations.lab.region": "rack-7"})["machine"]["nodeLabels"]
    assert labels["topology.kubernetes.io/region"] == "rack-7"


def test_taints_are_set_at_registration_alone() -> None:
    taints = ["tier=db:NoSchedule", "spot:NoExecute"]
    machine = config("dc", {"clusters.prod.pools.dc.taints": taints})["machine"]
    assert machine["kubelet"]["extraConfig"]["registerWithTaints"] == [
        {"key": "spot", "effect": "NoExecute"},
        {"key": "tier", "value": "db", "effect": "NoSchedule"},
    ]
    assert "nodeTaints" not in machine


def test_two_taints_of_one_key_are_both_set() -> None:
    taints = ["tier=db:NoSchedule", "tier=db:NoExecute"]
    machine = config("dc", {"clusters.prod.pools.dc.taints": taints})["machine"]
    assert [item["effect"] for item in machine["kubelet"]["extraConfig"]["registerWithTaints"]] == [
        "NoExecute",
        "NoSchedule",
    ]


def test_the_cluster_part_names_the_address_that_workers_reach() -> None:
    assert config("cloud")["cluster"] == {
        "controlPlane": {"endpoint": "https://203.0.113.10:6443"},
        "network": {
            "dnsDomain": "cluster.local",
            "podSubnets": ["10.243.0.0/16"],
            "serviceSubnets": ["10.95.0.0/16"],
        },
    }


def test_no_secret_is_in_a_configuration() -> None:
    for pool in ("lab", "dc", "cloud"):
        read = config(pool)
        assert set(read) == {"version", "machine", "cluster"}
        assert not {"token", "ca", "acceptedCAs"} & set(read["machine"])
        assert set(read["cluster"]) == {"controlPlane", "network"}
