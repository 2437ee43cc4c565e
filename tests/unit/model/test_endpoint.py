"""Who is asked, with which key: settings before PAILS_*, before well known keys."""

import pytest

from pails import config
from pails.model.endpoint import PROVIDERS, Endpoint
from pails.model.endpoint import endpoint_from as from_settings


def Settings(model="", base_url="", key_in=""):
    """What an editor says; the key as a placeholder for the variable `key_in`."""
    said = {"model": model, "base_url": base_url, "api_key": f"${{{key_in}}}" if key_in else ""}
    return {name: text for name, text in said.items() if text}


def endpoint_from(editor, environ, tmp="/nonexistent"):
    environ = {"PAILS_CONFIG_DIR": tmp, **environ}
    return from_settings(config.load(None, environ, editor), environ)


def test_nothing_said_is_no_endpoint():
    assert endpoint_from(Settings(), {}) is None
    assert endpoint_from(Settings(model="gpt-5"), {"OPENAI_API_KEY": "  "}) is None


def test_settings_win_over_everything():
    environ = {
        "PAILS_MODEL": "env",
        "PAILS_BASE_URL": "http://env/v1",
        "PAILS_API_KEY": "k-env",
        "OPENAI_API_KEY": "k-openai",
        "MINE": "k-mine",
    }
    endpoint = endpoint_from(Settings("mine", "http://mine/v1/", "MINE"), environ)
    assert endpoint == Endpoint(
        "mine",
        "http://mine/v1",
        "k-mine",
        "model in the editor's settings, base_url in the editor's settings and "
        "api_key in the editor's settings",
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
    assert endpoint.origin == "model in the editor's settings and DEEPSEEK_API_KEY"


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
    assert endpoint == Endpoint(
        "", "http://localhost:1234/v1", "", "base_url in the editor's settings"
    )


def test_a_key_alone_goes_to_openai_whatever_the_model_is_called():
    for model in ("", "codestral-latest"):
        endpoint = endpoint_from(Settings(key_in="K", model=model), {"K": "k"})
        assert endpoint is not None
        assert endpoint.host == "api.openai.com"


def test_a_refused_setting_is_not_used_after_all():
    assert endpoint_from(Settings(), {"PAILS_BASE_URL": "ftp://x"}) is None


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
