"""Who is asked, with which key: settings before PAILS_*, before well known keys."""

from dataclasses import dataclass

import pytest

from pails.model.endpoint import PROVIDERS, Endpoint, endpoint_from


@dataclass(frozen=True)
class Settings:
    model: str | None = None
    base_url: str | None = None
    api_key: str | None = None


def test_nothing_said_is_no_endpoint():
    assert endpoint_from(Settings(), {}) is None
    assert endpoint_from(Settings(model="gpt-5"), {"OPENAI_API_KEY": "  "}) is None


def test_settings_win_over_everything():
    environ = {
        "PAILS_MODEL": "env",
        "PAILS_BASE_URL": "http://env/v1",
        "PAILS_API_KEY": "k-env",
        "OPENAI_API_KEY": "k-openai",
    }
    endpoint = endpoint_from(Settings("mine", "http://mine/v1/", "k-mine"), environ)
    assert endpoint == Endpoint(
        "mine",
        "http://mine/v1",
        "k-mine",
        "the setting model, the setting base_url and the setting api_key",
    )


def test_our_variables_win_over_those_of_providers():
    environ = {
        "PAILS_MODEL": "m",
        "PAILS_BASE_URL": "http://box:9/v1",
        "PAILS_API_KEY": "k",
        "OPENAI_API_KEY": "k-openai",
    }
    endpoint = endpoint_from(Settings(), environ)
    assert endpoint == Endpoint(
        "m", "http://box:9/v1", "k", "PAILS_MODEL, PAILS_BASE_URL and PAILS_API_KEY"
    )


def test_values_mix_field_by_field():
    endpoint = endpoint_from(Settings(model="other"), {"DEEPSEEK_API_KEY": "k"})
    assert endpoint is not None
    assert (endpoint.model, endpoint.base_url) == ("other", "https://api.deepseek.com/v1")
    assert endpoint.origin == "the setting model and DEEPSEEK_API_KEY"


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.variable)
def test_each_well_known_key_is_enough(provider):
    endpoint = endpoint_from(Settings(), {provider.variable: " k\n"})
    assert endpoint == Endpoint(provider.model, provider.base_url, "k", provider.variable)
    assert provider.base_url.startswith("https://")


def test_the_models_family_chooses_among_several_keys():
    environ = {"OPENAI_API_KEY": "k-o", "DEEPSEEK_API_KEY": "k-d", "PAILS_MODEL": "deepseek-chat"}
    endpoint = endpoint_from(Settings(), environ)
    assert endpoint is not None
    assert (endpoint.host, endpoint.api_key) == ("api.deepseek.com", "k-d")


def test_a_providers_key_never_goes_to_another_address():
    environ = {"OPENAI_API_KEY": "k-openai", "PAILS_BASE_URL": "http://elsewhere.example/v1"}
    endpoint = endpoint_from(Settings(), environ)
    assert endpoint is not None
    assert endpoint.api_key == ""


def test_a_known_address_finds_its_key():
    environ = {"GROQ_API_KEY": "k-groq", "PAILS_BASE_URL": "https://api.groq.com/openai/v1"}
    endpoint = endpoint_from(Settings(), environ)
    assert endpoint is not None
    assert (endpoint.api_key, endpoint.model) == ("k-groq", "")


def test_openai_base_url_goes_with_the_openai_key():
    environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:8000/v1"}
    endpoint = endpoint_from(Settings(), environ)
    assert endpoint == Endpoint(
        "", "http://127.0.0.1:8000/v1", "k", "OPENAI_BASE_URL and OPENAI_API_KEY"
    )


def test_an_address_without_a_key_is_fine():
    endpoint = endpoint_from(Settings(base_url="http://localhost:1234/v1"), {})
    assert endpoint == Endpoint("", "http://localhost:1234/v1", "", "the setting base_url")


def test_a_key_alone_goes_to_the_family_of_the_model_or_to_openai():
    openai = endpoint_from(Settings(api_key="k"), {})
    assert openai is not None
    assert openai.host == "api.openai.com"
    mistral = endpoint_from(Settings(api_key="k", model="codestral-latest"), {})
    assert mistral is not None
    assert mistral.host == "api.mistral.ai"


def test_the_key_is_not_shown():
    assert "secret" not in repr(Endpoint("m", "http://x/v1", "secret", "PAILS_API_KEY"))


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:8080/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://192.168.0.9/v1", False),
        ("nonsense", False),
        ("http://[broken", False),
    ],
)
def test_what_is_local(url, local):
    assert Endpoint("m", url).is_local is local
