"""The pack in this process, with the SDK's own deserializer and proxies: what thousands of cases go through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf import json_format
from pulumi_policy import PolicyProviderResource, PolicyResourceOptions, ResourceValidationArgs
from pulumi_policy.deserialize import deserialize_properties
from pulumi_policy.proxy import unknown_checking_proxy

from tests.policy.analyzer import PROJECT, struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.policy.cases import Example

Judge = Any


def proxied(props: Mapping[str, Any]) -> Any:
    """Give inputs as the SDK hands them to a policy: over the wire, every number a float, in proxies."""
    return unknown_checking_proxy(deserialize_properties(json_format.MessageToDict(struct(props))))


def arguments(example: Example, config: Mapping[str, Any], provider_name: str = "explicit") -> ResourceValidationArgs:
    """Give what a policy's function is called with."""
    name, token, stack = "thing", example.token, example.stack
    provider = None
    if example.provider is not None:
        kind, props = example.provider
        urn = f"urn:pulumi:{stack}::{PROJECT}::{kind}::{provider_name}"
        provider = PolicyProviderResource(kind, proxied(props), urn, provider_name)
    urn = f"urn:pulumi:{stack}::{PROJECT}::hybrid:index:WorkerPool${token}::{name}"
    options = PolicyResourceOptions(
        protect=False,
        ignore_changes=[],
        delete_before_replace=None,
        aliases=[],
        custom_timeouts=None,  # type: ignore[arg-type]  # no rule reads them
        additional_secret_outputs=[],
    )
    return ResourceValidationArgs(token, proxied(example.props), urn, name, options, provider, dict(config))


def judged(validate: Judge, arguments: ResourceValidationArgs) -> list[str]:
    """Call a policy's function and give the messages of its violations."""
    said: list[str] = []
    validate(arguments, lambda message, _=None: said.append(message))
    return said
