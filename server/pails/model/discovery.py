"""What model servers there are, what they have, and whether they can be used."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import httpx

from pails.config import LoadedConfig
from pails.core.errors import ConfigurationError, ModelUnavailableError, PailsError
from pails.model.endpoint import Endpoint, endpoint_from
from pails.model.failures import response_failure, transport_failure
from pails.model.http import SilenceWatch, open_client, read_complaint, read_whole
from pails.model.json_values import as_dict, as_list, parse

LOCAL_SERVERS: Mapping[str, int] = MappingProxyType(
    {"Ollama": 11434, "llama.cpp": 8080, "LM Studio": 1234, "vLLM": 8000}
)
"""The servers that people run on their own machine, and the ports these listen on by default."""

_NO_CHAT = ("embed", "rerank", "whisper", "tts", "bge-", "clip", "dall-e", "moderation")
"""Parts of names of models that do not answer in a chat."""


NO_MODEL = (
    "No model is configured. Set the key of a provider, such as OPENAI_API_KEY or "
    "DEEPSEEK_API_KEY; or PAILS_BASE_URL and PAILS_MODEL for any OpenAI-compatible server; or "
    f"start {', '.join(LOCAL_SERVERS)} on this machine. `pails doctor` shows what was found."
)


async def find_endpoint(settings: LoadedConfig, environ: Mapping[str, str]) -> Endpoint:
    """What is configured, else the first server found on this machine.

    Raises `ConfigurationError` when there is neither.
    """
    endpoint = endpoint_from(settings, environ) or next(iter(await discover_local()), None)
    if endpoint is None:
        raise ConfigurationError(NO_MODEL)
    return endpoint


async def discover_local(
    timeout: float = 0.4, ports: Mapping[str, int] = LOCAL_SERVERS
) -> list[Endpoint]:
    """The first model of each server on this machine, in the order of `ports`.

    All are asked at once; who does not answer properly within `timeout` seconds is left out.
    """
    found = await asyncio.gather(*(_ask(name, port, timeout) for name, port in ports.items()))
    return [endpoint for endpoint in found if endpoint is not None]


async def list_servers(configured: Endpoint | None) -> list[tuple[Endpoint, list[str]]]:
    """The configured server and those that answer on this machine, each with its models.

    The configured one comes first, also when it does not answer; then it has the one model that is
    configured.
    """
    found = await discover_local()
    endpoints = [configured] if configured else []
    endpoints += [e for e in found if e.base_url not in {c.base_url for c in endpoints}]
    return list(zip(endpoints, await asyncio.gather(*map(_models_of, endpoints)), strict=True))


async def _models_of(endpoint: Endpoint) -> list[str]:
    try:
        return chat_models(await list_models(endpoint, timeout=5.0))
    except PailsError:
        return [endpoint.model] if endpoint.model else []


async def _ask(name: str, port: int, timeout: float) -> Endpoint | None:
    endpoint = Endpoint("", f"http://127.0.0.1:{port}/v1", origin=f"{name} on port {port}")
    try:
        async with asyncio.timeout(timeout):
            models = chat_models(await list_models(endpoint))
    except (PailsError, TimeoutError):
        return None
    return replace(endpoint, model=models[0]) if models else None


async def list_models(endpoint: Endpoint, timeout: float = 20.0) -> list[str]:
    """The names of all models, in the server's order. Raises `ModelError`, `ConfigurationError`."""
    async with await open_client(endpoint) as client:
        try:
            body = await SilenceWatch().wait(_read_models(client, endpoint), timeout)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise transport_failure(endpoint, error) from error
    try:
        return _names(parse(body))
    except ValueError as error:
        raise ModelUnavailableError(
            f"{endpoint.base_url} answers, but not like a model server: check base_url "
            "(PAILS_BASE_URL); it usually ends in /v1."
        ) from error


async def _read_models(client: httpx.AsyncClient, endpoint: Endpoint) -> bytes:
    async with client.stream("GET", f"{endpoint.base_url}/models") as response:
        if response.status_code != 200:
            text = await read_complaint(response)
            raise response_failure(endpoint, response.status_code, text, response.headers)
        return await read_whole(response)


async def with_model(endpoint: Endpoint) -> Endpoint:
    """The endpoint, naming the first model that its server has where it names none."""
    if endpoint.model:
        return endpoint
    models = chat_models(await list_models(endpoint))
    if not models:
        raise ConfigurationError(
            f"The model server at {endpoint.base_url} has no model: load one there, or set model "
            "(PAILS_MODEL)."
        )
    return replace(endpoint, model=models[0])


async def probe(endpoint: Endpoint) -> str:
    """Empty when the server can be reached with this key, else what is wrong and what to do."""
    try:
        models = await list_models(endpoint)
    except PailsError as error:
        return str(error)
    if not models and not endpoint.model:
        return f"The model server at {endpoint.base_url} has no model: load one there."
    return ""


def chat_models(names: list[str]) -> list[str]:
    """Those that can hold a conversation, as far as names tell."""
    return [name for name in names if not any(part in name.lower() for part in _NO_CHAT)]


def _names(body: object) -> list[str]:
    """The model names in `{"data": [{"id": …}]}`; raises ValueError for another shape.

    A name that no request could repeat or no screen show, half characters or control characters
    in it, is left out.
    """
    outer = as_dict(body)
    if not isinstance(outer.get("data", ""), list | None):  # null: a server without a model
        raise ValueError("no list of models")
    names = (as_dict(entry).get("id") for entry in as_list(outer.get("data")))
    return [name for name in names if isinstance(name, str) and name and name.isprintable()]
