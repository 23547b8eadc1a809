"""What Spark is told to hide: every setting that the client's tables call a password."""

from __future__ import annotations

import pickle
import re

import pyarrow as pa
import pytest

from ottla.client.config_tables import TABLES
from ottla.model.config_key import PASSWORD
from ottla.pipelines.secrets import CORE_REGEX, HIDDEN, OPTIONS_REGEX, is_secret, redaction, shown
from ottla.pipelines.sink.columns import SinkColumns
from ottla.pipelines.sink.sink_options import SinkOptions
from ottla.pipelines.sink.writers import WriteTask
from ottla.streams.lowering.query import Settings
from ottla.streams.lowering.sinks import SinkJob

SECRETS = sorted(
    {name for table in TABLES.values() for name, setting in table.items() if setting.key.type is PASSWORD}
)


@pytest.mark.parametrize("name", SECRETS)
def test_every_password_of_the_clients_is_hidden_under_any_spelling(name: str) -> None:
    """Spark's names of options have no case, and options of the client begin with `kafka.`."""
    for option in (name, f"kafka.{name}", f"kafka.{name}".upper()):
        assert is_secret(option)
        for pattern in redaction().values():
            assert re.search(pattern, option)


@pytest.mark.parametrize(
    "name", ["kafka.bootstrap.servers", "subscribe", "kafka.group.id", "sasl.username", "ssl.key.location"]
)
def test_what_is_no_secret_stays_readable(name: str) -> None:
    assert not is_secret(name)


def test_what_a_user_hides_stays_hidden_beside_ours() -> None:
    chosen = redaction({CORE_REGEX: "(?i)internal", OPTIONS_REGEX: "iban"})
    assert re.search(chosen[CORE_REGEX], "spark.Internal.name")
    assert re.search(chosen[CORE_REGEX], "kafka.sasl.jaas.config")
    assert re.search(chosen[OPTIONS_REGEX], "iban")
    assert redaction(chosen) == chosen, "said twice it does not grow"


def test_what_is_sent_to_tasks_does_not_show_passwords_when_it_is_printed() -> None:
    """In a traceback, a debugger or a log line of Spark's: dataclasses print their fields."""
    options = {"kafka.bootstrap.servers": "b:1", "kafka.sasl.password": "hunter2", "topic": "t"}
    sink = SinkOptions.parse(options)
    task = WriteTask(sink.settings, SinkColumns(("value",), "t"))
    application = Settings(application_id="a", bootstrap_servers="b:1", options=options)
    job = SinkJob("sink", *[None] * 5, options, pa.schema([]))  # type: ignore[arg-type]
    for each in (sink, task, application, job):
        assert "hunter2" in pickle.dumps(each).decode("latin-1") and "hunter2" not in repr(each)


def test_shown_settings_keep_their_names() -> None:
    assert shown({"sasl.password": "x", "acks": "all"}) == {"sasl.password": HIDDEN, "acks": "all"}
