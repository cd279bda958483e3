"""What stands in a stack file around its settings, and the text itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from settings.load import from_config, load
from settings.problems import SettingsError
from settings.stackfile import read
from tests.settings.files import GONE, STACKS, edit, said, settings_of, write
from tests.settings.odd_scalars import ODD, REFUSED

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "xyzzy-b1946ac9-2492d234"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for stack in ("lab", "lab-acme", "lab-globex"):
        write(tmp_path, stack, settings_of(stack))
    return tmp_path


def _text(folder: Path, stack: str, text: str) -> None:
    (folder / f"Pulumi.{stack}.yaml").write_text(text, encoding="utf-8")


def _refusal(folder: Path, stack: str) -> SettingsError:
    with pytest.raises(SettingsError) as refused:
        load(stack, folder)
    return refused.value


@pytest.mark.parametrize("stack", ["lab", "lab-acme", "lab-globex"])
def test_the_labs_own_stacks_are_accepted(stack: str) -> None:
    assert load(stack, STACKS).warnings == ()


@pytest.mark.parametrize("name", ["Lab", "lab-acme-prod", "lab-", "-acme", "lab_acme", "1lab", "", "lab-1", "../lab"])
def test_a_stack_whose_name_says_nothing_is_refused(folder: Path, name: str) -> None:
    assert said(folder, name) == [("BAD_STACK_NAME", "stack")]


def test_a_stack_without_a_file_is_refused_with_the_names_that_have_one(folder: Path) -> None:
    error = _refusal(folder, "lab-initech")

    assert [(found.code, found.path) for found in error.problems] == [("STACK_FILE_MISSING", "stack")]
    assert "lab, lab-acme, lab-globex" in error.problems[0].fix


def test_a_tenant_of_an_environment_without_a_file_is_refused(folder: Path) -> None:
    write(folder, "live-acme", settings_of("lab-acme") | {"environment": "live"})

    assert said(folder, "live-acme") == [("UNKNOWN_ENVIRONMENT", "stack")]


def test_an_environments_file_can_not_make_itself_a_tenants(folder: Path) -> None:
    write(folder, "lab-acme", settings_of("lab-acme"))
    (folder / "Pulumi.lab.yaml").write_text((folder / "Pulumi.lab-acme.yaml").read_text())

    assert said(folder, "lab") == [("MISSING_KEY", "hybrid:environment"), ("WRONG_KIND", "hybrid:tenant")]


def test_a_tenants_file_can_not_make_itself_an_environments(folder: Path) -> None:
    (folder / "Pulumi.lab-acme.yaml").write_text((folder / "Pulumi.lab.yaml").read_text())

    assert said(folder, "lab-acme") == [("WRONG_KIND", "hybrid:environment"), ("MISSING_KEY", "hybrid:tenant")]


@pytest.mark.parametrize("key", ["encryptionsalt", "encryptedkey", "secretsprovider"])
@pytest.mark.parametrize("stack", ["lab", "lab-acme"])
def test_the_engines_own_lines_beside_config_are_accepted(folder: Path, key: str, stack: str) -> None:
    write(folder, stack, settings_of(stack), **{key: "v1:abc"})

    assert said(folder, stack) == []


@pytest.mark.parametrize("key", ["environment", "encryptionSalt", "imports"])
def test_any_other_key_beside_config_is_refused(folder: Path, key: str) -> None:
    write(folder, "lab-acme", settings_of("lab-acme"), **{key: "x"})

    assert said(folder, "lab-acme") == [("UNKNOWN_KEY", key)]


@pytest.mark.parametrize(
    "key", ["hybrid:tenat", "tenant", "pulumi:disable-default-providers", "aws:region", "hybrid:x"]
)
def test_any_other_key_below_config_is_refused_and_its_value_not_shown(folder: Path, key: str) -> None:
    config: dict[str, Any] = {"hybrid:tenant": settings_of("lab-acme"), key: SECRET}
    write(folder, "lab-acme", None, config=config)

    error = _refusal(folder, "lab-acme")

    assert [(found.code, found.path) for found in error.problems] == [("UNKNOWN_KEY", key)]
    assert SECRET not in str(error)


def test_encrypted_credentials_are_accepted(folder: Path) -> None:
    config: dict[str, Any] = {"hybrid:tenant": settings_of("lab-acme"), "hybrid:credentials": {"secure": "v1:abc"}}
    write(folder, "lab-acme", None, config=config)

    assert said(folder, "lab-acme") == []


@pytest.mark.parametrize(
    "value",
    [
        SECRET,
        {"lab": {"token": SECRET}},
        {"secure": {"token": SECRET}},
        {"secure": "v1:abc", "token": SECRET},
        {"lab": {"secure": SECRET}},
        [SECRET],
        None,
    ],
)
def test_credentials_in_the_clear_are_refused_and_never_shown(folder: Path, value: Any) -> None:
    config: dict[str, Any] = {"hybrid:environment": settings_of("lab"), "hybrid:credentials": value}
    write(folder, "lab", None, config=config)

    error = _refusal(folder, "lab")

    assert [(found.code, found.path) for found in error.problems] == [("CREDENTIALS_IN_CLEAR", "hybrid:credentials")]
    assert SECRET not in str(error)
    assert "pulumi config set --secret hybrid:credentials" in error.problems[0].fix


@pytest.mark.parametrize(
    "place", ["management.context", "zones.workers.bridge", "locations.lab.ca", "locations.lab.token", "tenants.acme"]
)
def test_a_secret_among_the_settings_is_refused_and_not_shown(folder: Path, place: str) -> None:
    settings = settings_of("lab")
    edit(settings, place, {"secure": SECRET})
    write(folder, "lab", settings)

    error = _refusal(folder, "lab")

    assert [(found.code, found.path) for found in error.problems] == [("SECRET_IN_SETTINGS", place)]
    assert SECRET not in str(error)


@pytest.mark.parametrize("stack", ["lab", "lab-acme"])
def test_settings_that_are_one_secret_are_one_problem_that_names_their_key(folder: Path, stack: str) -> None:
    write(folder, stack, {"secure": SECRET})

    error = _refusal(folder, stack)

    key = "hybrid:tenant" if "-" in stack else "hybrid:environment"
    assert [(found.code, found.path) for found in error.problems] == [("SECRET_IN_SETTINGS", key)]
    assert SECRET not in str(error)


@pytest.mark.parametrize("key", ["token", "apiToken", "password"])
def test_an_unknown_key_that_sounds_secret_is_named_without_its_value(folder: Path, key: str) -> None:
    settings = settings_of("lab")
    edit(settings, f"locations.lab.{key}", SECRET)
    write(folder, "lab", settings)

    error = _refusal(folder, "lab")

    assert [(found.code, found.path) for found in error.problems] == [("UNKNOWN_KEY", f"locations.lab.{key}")]
    assert SECRET not in str(error)


@pytest.mark.parametrize(
    ("text", "code", "path"),
    [
        ("config: [", "NOT_YAML", "stack"),
        ("config:\n\thybrid:tenant: {}", "NOT_YAML", "stack"),
        ("a: 1\n---\nb: 2", "NOT_YAML", "stack"),
        (f"config: {{hybrid:credentials: *{SECRET}}}", "NOT_YAML", "stack"),
        ("- 1", "NOT_A_MAP", "config"),
        ("config: [1]", "NOT_A_MAP", "config"),
        ("", "MISSING_KEY", "hybrid:tenant"),
        ("config: {hybrid:tenant: [1]}", "NOT_A_MAP", "hybrid:tenant"),
        ("config: {hybrid:tenant: {environment: lab, environment: lab}}", "DUPLICATE_KEY", "environment"),
        ("config: {hybrid:tenant: {environment: lab}, hybrid:tenant: {}}", "DUPLICATE_KEY", "hybrid:tenant"),
        ("config: {hybrid:tenant: {environment: lab, clusters: {1: {}}}}", "KEY_NOT_TEXT", "clusters.1"),
        ("config: {hybrid:tenant: {environment: lab, clusters: &x {}}}", "NOT_PLAIN_YAML", "clusters"),
        ("config: {hybrid:tenant: {environment: !!binary lab}}", "NOT_PLAIN_YAML", "environment"),
        ("config: {hybrid:tenant: {environment: lab, clusters: {<<: {}}}}", "NOT_PLAIN_YAML", "clusters"),
        ("%YAML 1.1\n---\nconfig: {hybrid:tenant: {environment: lab}}", "NOT_PLAIN_YAML", "Pulumi.lab-acme.yaml"),
        ("config: {hybrid:tenant: {environment: 2026-01-01}}", "NOT_TEXT", "environment"),
        ("config: {hybrid:tenant: {environment: 1.10}}", "NOT_TEXT", "environment"),
        ("config: {hybrid:tenant: {environment: true}}", "NOT_TEXT", "environment"),
        ("config: {hybrid:tenant: {environment: null}}", "NOT_TEXT", "environment"),
    ],
)
def test_a_text_that_readers_could_differ_about_is_refused(folder: Path, text: str, code: str, path: str) -> None:
    _text(folder, "lab-acme", text)

    error = _refusal(folder, "lab-acme")

    assert (code, path) in [(found.code, found.path) for found in error.problems]
    assert SECRET not in str(error)


@pytest.mark.parametrize(
    ("text", "code", "path"),
    [
        ("- 1", "NOT_A_MAP", "config"),
        ("config: [1]", "NOT_A_MAP", "config"),
        ("config: &x {hybrid:tenant: {}}", "NOT_PLAIN_YAML", "config"),
        ("config: {hybrid:tenant: &x {environment: lab}}", "NOT_PLAIN_YAML", "hybrid:tenant"),
        ("config: {hybrid:tenant: !x lab}", "NOT_PLAIN_YAML", "hybrid:tenant"),
    ],
)
def test_a_file_of_which_nothing_can_be_read_is_one_problem(folder: Path, text: str, code: str, path: str) -> None:
    _text(folder, "lab-acme", text)

    assert said(folder, "lab-acme") == [(code, path)]


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("scale: {min: 1, max: 5}", "scale: &x {min: 1, max: 5}", "clusters.prod.pools.lab.scale"),
        ("replicas: 2", "replicas: !x 2", "clusters.prod.pools.cloud.replicas"),
        ("size: {cpu: 4", "size: &x {cpu: 4", "clusters.prod.pools.lab.size"),
        ("labels: {tier", "labels: &x {tier", "clusters.prod.pools.dc.labels"),
        ('["tier=db:NoSchedule"]', "[&x tier=db:NoSchedule, tier=web:NoExecute]", "clusters.prod.pools.dc.taints.0"),
        ("network: acme-lab", "network: &x acme-lab", "clusters.prod.pools.lab.network"),
    ],
)
def test_nothing_else_is_said_of_what_could_not_be_read(folder: Path, old: str, new: str, path: str) -> None:
    plain = (STACKS / "Pulumi.lab-acme.yaml").read_text()
    _text(folder, "lab-acme", plain.replace(old, new))

    assert said(folder, "lab-acme") in ([("NOT_PLAIN_YAML", path)], [("NOT_PLAIN_YAML", path)] * 2)


def test_a_file_that_is_no_utf8_is_refused(folder: Path) -> None:
    (folder / "Pulumi.lab.yaml").write_bytes(b"config: \xff")

    assert said(folder, "lab") == [("NOT_YAML", "stack")]


@pytest.mark.parametrize(("spelled", "read_as"), [("0o311", 201), ("0201", 201), ("2_01", 201), ("0xC9", 201)])
def test_a_number_that_readers_spell_differently_is_refused_alone(folder: Path, spelled: str, read_as: int) -> None:
    plain = (STACKS / "Pulumi.lab.yaml").read_text()
    _text(folder, "lab", plain.replace(f"vlan: {read_as}", f"vlan: {spelled}"))

    assert said(folder, "lab") == [("ODD_NUMBER", "zones.workers.networks.acme-lab.vlan")]


LABEL = "clusters.prod.pools.dc.labels.tier"


def _labelled(folder: Path, text: str, old: str = "tier: db") -> None:
    plain = (STACKS / "Pulumi.lab-acme.yaml").read_text()
    _text(folder, "lab-acme", plain.replace(f"{old}}}", f"{old.partition(':')[0]}: {text}}}"))


@pytest.mark.parametrize("odd", ["no", "on", "Y", "2026-1-x", "12:30:45", "1:1", "0X1F", "0O17", "1e1_0"])
def test_text_that_another_reader_would_take_for_something_else_needs_quotes(folder: Path, odd: str) -> None:
    _labelled(folder, odd)
    without = said(folder, "lab-acme")
    _labelled(folder, f'"{odd}"')
    quoted = said(folder, "lab-acme")

    assert (without == [("ODD_TEXT", LABEL)]) is (odd != "2026-1-x")
    assert {code for code, _ in quoted} <= {"BAD_LABEL_VALUE"}


def test_keys_need_quotes_like_values(folder: Path) -> None:
    _labelled(folder, "x", old="no: db")
    plain = (STACKS / "Pulumi.lab-acme.yaml").read_text()
    _text(folder, "lab-acme", plain.replace("tier: db}", "no: db}"))

    assert said(folder, "lab-acme") == [("ODD_TEXT", "clusters.prod.pools.dc.labels.no")]


@pytest.mark.parametrize("sign", ["\u0085", "\u2028", "\u2029", "\ufeff"])
def test_a_line_break_or_mark_that_not_every_reader_skips_is_refused(folder: Path, sign: str) -> None:
    plain = (STACKS / "Pulumi.lab.yaml").read_text()
    _text(folder, "lab", f"{plain}# end{sign}\n")

    assert said(folder, "lab") == [("NOT_PLAIN_YAML", "Pulumi.lab.yaml")]


def test_a_second_byte_order_mark_is_refused(folder: Path) -> None:
    """One reader takes it for a part of the first key, and so would not find the line that another compares."""
    _text(folder, "lab", "\ufeff\ufeff" + (STACKS / "Pulumi.lab.yaml").read_text())

    assert said(folder, "lab") == [("NOT_PLAIN_YAML", "Pulumi.lab.yaml")]


@pytest.mark.parametrize("half", ["\\uD800", "\\uDFFF", "\\uD83D\\uDE00", "\\UFFFFFFFF", "\\U00110000"])
def test_an_escape_that_is_no_character_is_refused(folder: Path, half: str) -> None:
    _labelled(folder, f'"{half}"')
    value = said(folder, "lab-acme")
    _text(folder, "lab-acme", f'{(STACKS / "Pulumi.lab-acme.yaml").read_text()}"{half}": x\n')
    key = said(folder, "lab-acme")

    whole = [("NOT_YAML", "stack")]
    assert (value, key) in ((whole, whole), ([("NOT_PLAIN_YAML", LABEL)], [("NOT_PLAIN_YAML", "config")]))


@pytest.mark.parametrize("odd", ["\\n", "\\r", "\\e[2J", "\\x7f", "\\x9b", "\\u202e", "\\u2028"])
def test_what_a_file_says_breaks_no_line_of_the_answer_and_speaks_to_no_terminal(folder: Path, odd: str) -> None:
    _labelled(folder, f'"{odd}settings are fine"')
    text = (folder / "Pulumi.lab-acme.yaml").read_text()
    _text(folder, "lab-acme", f'{text}"{odd}settings are fine": x\n')
    with pytest.raises(SettingsError) as caught:
        load("lab-acme", folder)

    lines = str(caught.value).split("\n")
    assert all(line.isprintable() for line in lines)
    assert len(lines) == 1 + 2 * len(caught.value.problems)
    assert len(caught.value.problems) == 2


def test_odd_words_are_read_as_they_are_written(folder: Path) -> None:
    _text(folder, "lab", "config: {hybrid:environment: {a: 'no', b: \"on\", c: '12:30:45', d: 1e3, e: ~}}")

    assert read(folder / "Pulumi.lab.yaml")["config"]["hybrid:environment"] == {
        "a": "no",
        "b": "on",
        "c": "12:30:45",
        "d": 1000.0,
        "e": None,
    }


def test_a_byte_order_mark_changes_nothing(folder: Path) -> None:
    plain = (STACKS / "Pulumi.lab.yaml").read_text()
    _text(folder, "lab", "\ufeff" + plain)

    assert load("lab", folder) == load("lab", STACKS)


@pytest.mark.parametrize(("text", "engine"), ODD, ids=[text for text, _ in ODD])
@pytest.mark.parametrize("old", ["tier: db", "replicas: 2"])
def test_what_is_accepted_the_engine_reads_as_we_do(folder: Path, old: str, text: str, engine: Any) -> None:
    _labelled(folder, text, old)
    settings = settings_of("lab-acme")
    place = LABEL if old.startswith("tier") else "clusters.prod.pools.cloud.replicas"
    edit(settings, place, engine)
    try:
        ours = load("lab-acme", folder)
    except SettingsError:
        return

    assert from_config("lab-acme", {"environment": None, "tenant": settings}, folder) == ours


@pytest.mark.parametrize("text", ["v1.35.6", "10-99", '"yes"', "'no'", "'12:30'", "e1"])
def test_text_of_which_there_is_no_doubt_is_not_refused(folder: Path, text: str) -> None:
    _labelled(folder, text)

    assert ("ODD_TEXT", LABEL) not in said(folder, "lab-acme")


@pytest.mark.parametrize("text", REFUSED)
@pytest.mark.parametrize("old", ["tier: db", "replicas: 2"])
def test_what_the_engine_can_not_read_is_refused(folder: Path, old: str, text: str) -> None:
    _labelled(folder, text, old)

    assert [code for code, _ in said(folder, "lab-acme")] in (["NOT_TEXT"], ["NOT_A_NUMBER"])


@pytest.mark.parametrize(
    ("stack", "place", "engine"),
    [
        ("lab-acme", "clusters.prod.pools.dc.labels.tier", "web"),
        ("lab-acme", "clusters.prod.pools.lab.scale.max", 4),
        ("lab-acme", "clusters.prod.pools.cloud", GONE),
        ("lab", "management.protect", True),
        ("lab", "zones.workers.networks.acme-lab.vlan", 203),
    ],
)
def test_an_engine_that_says_something_else_than_the_file_is_refused(
    folder: Path, stack: str, place: str, engine: Any
) -> None:
    settings = settings_of(stack)
    edit(settings, place, engine)
    who = "tenant" if "-" in stack else "environment"
    with pytest.raises(SettingsError) as refused:
        from_config(stack, {who: settings}, folder)

    assert [(found.code, found.path) for found in refused.value.problems] == [("READ_OTHERWISE", f"hybrid:{who}")]


def test_what_is_wrong_with_what_the_engine_says_is_told_too(folder: Path) -> None:
    settings = settings_of("lab")
    edit(settings, "zones.workers.networks.acme-lab.vlan", "201")
    with pytest.raises(SettingsError) as refused:
        from_config("lab", {"environment": settings}, folder)

    assert [(found.code, found.path) for found in refused.value.problems] == [
        ("READ_OTHERWISE", "hybrid:environment"),
        ("NOT_A_NUMBER", "zones.workers.networks.acme-lab.vlan"),
    ]


@pytest.mark.parametrize("stack", ["lab", "lab-acme"])
def test_what_the_engine_writes_out_may_be_a_default_in_the_file(folder: Path, stack: str) -> None:
    settings = settings_of(stack)
    edit(
        settings,
        "zones.workers.mode" if stack == "lab" else "clusters.prod.pools.cloud.labels",
        {} if "-" in stack else "enforce",
    )
    config = {"tenant" if "-" in stack else "environment": settings}

    assert from_config(stack, config, folder) == load(stack, folder)


def test_the_default_of_the_other_kind_is_as_good_as_absent(folder: Path) -> None:
    assert from_config("lab", {"environment": settings_of("lab"), "tenant": {}}, folder).stack == "lab"


def test_an_engine_without_settings_is_refused(folder: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        from_config("lab", {"environment": {}, "tenant": {}}, folder)

    assert {found.code for found in refused.value.problems} == {"READ_OTHERWISE", "MISSING_KEY"}


def test_settings_without_a_file_are_refused(folder: Path) -> None:
    (folder / "Pulumi.lab.yaml").unlink()
    with pytest.raises(SettingsError) as refused:
        from_config("lab", {"environment": settings_of("lab")}, folder)

    assert [(found.code, found.path) for found in refused.value.problems] == [("STACK_FILE_MISSING", "stack")]


def test_what_the_engine_does_not_pass_on_is_checked_in_the_file(folder: Path) -> None:
    config: dict[str, Any] = {"hybrid:environment": settings_of("lab"), "hybrid:enviroment": {}}
    write(folder, "lab", None, config=config)
    with pytest.raises(SettingsError) as refused:
        from_config("lab", {"environment": settings_of("lab"), "tenant": None}, folder)

    assert [(found.code, found.path) for found in refused.value.problems] == [("UNKNOWN_KEY", "hybrid:enviroment")]


def test_encrypted_credentials_with_an_anchor_are_one_problem(folder: Path) -> None:
    plain = (STACKS / "Pulumi.lab-acme.yaml").read_text()
    _text(folder, "lab-acme", f"{plain}  hybrid:credentials: &x {{secure: v1:abc}}\n")

    assert said(folder, "lab-acme") == [("NOT_PLAIN_YAML", "hybrid:credentials")]
