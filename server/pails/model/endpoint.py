"""Which model is asked, at which address, with which key, and who said so.

`endpoint_from` is pure: what the settings say wins over the keys of well known providers that
happen to be in the environment. A key is only ever paired with
the address of its own provider.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from pails.config.layers import ENVIRONMENT, LoadedConfig


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at a server that speaks the chat-completions protocol.

    `base_url` ends before `/chat/completions` and has no slash at its end; `api_key` is empty for
    servers that want none; `model` is empty where the server is to be asked what it has; `origin`
    says in words where this came from, such as `the variable OPENAI_API_KEY`.
    """

    model: str
    base_url: str
    api_key: str = field(default="", repr=False)
    origin: str = ""

    @property
    def host(self) -> str:
        return _host(self.base_url)

    @property
    def is_local(self) -> bool:
        """True when the server is on this machine."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


@dataclass(frozen=True, slots=True)
class Provider:
    """A well known provider: the variable of its key, its address, a sensible model of it.

    `families` are how the names of its models begin, to choose among several keys.
    """

    variable: str
    base_url: str
    model: str
    families: tuple[str, ...] = ()


OPENAI = Provider(
    "OPENAI_API_KEY", "https://api.openai.com/v1", "gpt-5", ("gpt-", "o3", "o4", "codex")
)

PROVIDERS: tuple[Provider, ...] = (
    OPENAI,
    Provider("DEEPSEEK_API_KEY", "https://api.deepseek.com/v1", "deepseek-chat", ("deepseek-",)),
    Provider(
        "MISTRAL_API_KEY",
        "https://api.mistral.ai/v1",
        "mistral-medium-latest",
        ("mistral-", "codestral-", "devstral-", "magistral-", "ministral-"),
    ),
    Provider("XAI_API_KEY", "https://api.x.ai/v1", "grok-4", ("grok-",)),
    Provider(
        "GEMINI_API_KEY",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "gemini-2.5-pro",
        ("gemini-",),
    ),
    Provider(
        "ANTHROPIC_API_KEY", "https://api.anthropic.com/v1", "claude-sonnet-4-5", ("claude-",)
    ),
    Provider("MOONSHOT_API_KEY", "https://api.moonshot.ai/v1", "kimi-k2-0905-preview", ("kimi-",)),
    Provider(
        "DASHSCOPE_API_KEY",
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "qwen3-coder-plus",
        ("qwen",),
    ),
    Provider("ZHIPUAI_API_KEY", "https://open.bigmodel.cn/api/paas/v4", "glm-4.6", ("glm-",)),
    Provider("GROQ_API_KEY", "https://api.groq.com/openai/v1", "openai/gpt-oss-120b"),
    Provider(
        "TOGETHER_API_KEY",
        "https://api.together.xyz/v1",
        "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8",
    ),
    Provider("SILICONFLOW_API_KEY", "https://api.siliconflow.cn/v1", "deepseek-ai/DeepSeek-V3"),
    Provider("OPENROUTER_API_KEY", "https://openrouter.ai/api/v1", "openrouter/auto"),
)


def endpoint_from(settings: LoadedConfig, environ: Mapping[str, str]) -> Endpoint | None:
    """The endpoint that the settings and the environment ask for; None when they name neither
    an address nor a key."""
    model, base_url, api_key = (_set(settings, name) for name in ("model", "base_url", "api_key"))
    if base_url:
        return _at_address(model, base_url, api_key, environ)
    # A key without an address is OpenAI's: a model's name, which a workspace may set, must not
    # decide who is sent the person's key.
    provider = OPENAI if api_key else _provider_for(model.text, environ)
    if provider is None:
        return None
    key = api_key or _Said(_clean(environ.get(provider.variable)), provider.variable)
    if provider is OPENAI and (moved := _clean(environ.get("OPENAI_BASE_URL"))):
        # Another server than OpenAI's, so OpenAI's models say nothing about what it has.
        return _endpoint(model, _Said(moved, "OPENAI_BASE_URL"), key, "")
    return _endpoint(model, _Said(provider.base_url), key, provider.model)


@dataclass(frozen=True, slots=True)
class _Said:
    """A value and who said it; false when nobody did."""

    text: str = ""
    origin: str = ""

    def __bool__(self) -> bool:
        return bool(self.text)


def _at_address(
    model: _Said, base_url: _Said, api_key: _Said, environ: Mapping[str, str]
) -> Endpoint:
    """A given address. Without a key of its own it gets one only if it is a known provider's."""
    if not api_key:
        for provider in PROVIDERS:
            if _host(provider.base_url) == _host(base_url.text):
                api_key = _Said(_clean(environ.get(provider.variable)), provider.variable)
    return _endpoint(model, base_url, api_key, "")


def _provider_for(model: str, environ: Mapping[str, str]) -> Provider | None:
    """The provider of this model's family if there is a key for it, else the first with a key."""
    usable = [p for p in PROVIDERS if _clean(environ.get(p.variable))]
    of_family = [p for p in usable if p.families and model.lower().startswith(p.families)]
    return next(iter(of_family or usable), None)


def _endpoint(model: _Said, base_url: _Said, api_key: _Said, default_model: str) -> Endpoint:
    origins = [said.origin for said in (model, base_url, api_key) if said and said.origin]
    return Endpoint(
        model.text or default_model,
        base_url.text.rstrip("/"),
        api_key.text,
        _in_words(list(dict.fromkeys(origins))),
    )


def _in_words(origins: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(origins[:-1]), *origins[-1:]]))


def _set(settings: LoadedConfig, name: str) -> _Said:
    """What a setting says, and where it was set, in words for a person."""
    origin = settings.origins[name]
    place = f"PAILS_{name.upper()}" if origin == ENVIRONMENT else f"{name} in {origin}"
    return _Said(_clean(getattr(settings.config, name)), place)


def _clean(text: str | None) -> str:
    """Pasted values like to end in a line break, which no header can carry."""
    return (text or "").strip()


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
