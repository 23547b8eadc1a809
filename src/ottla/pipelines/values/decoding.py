"""Decode keys and values of records in a DataFrame, and choose what becomes of those that are bad.

    flights = from_json(df, "user string, delay int")                        # the query fails at a bad record
    flights = from_json(df, "user string, delay int", on_error="null")       # its value becomes null
    flights = from_json(df, schema, on_error=dead_letters("flights-dlq", bootstrap_servers="localhost:9092"))

    flights = split(df, value=json_text("user string, delay int"), dead_letter_topic="flights-dlq")
    flights.good, flights.bad                                                # two DataFrames of one query

`df` has the columns of the format "ottla"; the column `value` (or `key`) is replaced by the decoded one, the
others stay. A value that is null, a tombstone, stays null and is never bad. An error names the record's
topic, partition and offset, as far as `df` has those columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, DataType, StringType

from ottla.pipelines.values import dead_letters as letters
from ottla.pipelines.values.dead_letters import DeadLetters, OnError
from ottla.pipelines.values.formats import Format, avro, json_text, primitive, text
from ottla.pipelines.values.reporting import reporter

# Columns that exist between two steps here, and in no DataFrame that is handed out.
_RESULTS: Final = {"key": "_ottla_key", "value": "_ottla_value"}
_ERROR: Final = "_ottla_error"
_LETTER: Final = "_ottla_letter"
_STAGES: Final = {"key": letters.KEY_STAGE, "value": letters.VALUE_STAGE}


def from_json(
    df: DataFrame,
    schema: DataType | str,
    *,
    column: str = "value",
    on_error: OnError = "fail",
    options: Mapping[str, str] | None = None,
) -> DataFrame:
    """The column as JSON of this type: Spark's DDL ("user string, delay int not null") or one of its types.

    Bad is: what is not UTF-8, not exactly one JSON document, or not of the type (a text where a number is
    declared, a number that is too large or has a fraction, a NOT NULL field that is missing). Names that the
    type does not have are ignored; missing ones are null; anything fits into a string.

    options: those of Spark's from_json ("timestampFormat", "allowSingleQuotes", ...).
    """
    return decode(df, **{column: json_text(schema, options)}, on_error=on_error)


def from_avro(
    df: DataFrame,
    schema: Any,
    *,
    column: str = "value",
    writer_schema: Any = None,
    writer_schemas: Mapping[int, Any] | None = None,
    on_error: OnError = "fail",
) -> DataFrame:
    """The column as Avro of this schema (JSON text, or Python dicts), resolved from the writer's schema.

    writer_schema: what all values were written with, where that is not `schema`.
    writer_schemas: by id, for values in Confluent's framing; an id that is not in it makes a record bad.
    """
    form = avro(schema, writer_schema=writer_schema, writer_schemas=writer_schemas)
    return decode(df, **{column: form}, on_error=on_error)


def from_text(df: DataFrame, *, column: str = "value", on_error: OnError = "fail") -> DataFrame:
    """The column as text in UTF-8."""
    return decode(df, **{column: text()}, on_error=on_error)


def from_primitive(
    df: DataFrame, name: str, *, column: str = "value", on_error: OnError = "fail"
) -> DataFrame:
    """The column as what Kafka's Serdes write for this primitive.

    name: "short", "integer", "long", "float", "double", "boolean" or "uuid".
    """
    return decode(df, **{column: primitive(name)}, on_error=on_error)


def decode(
    df: DataFrame, *, key: Format | None = None, value: Format | None = None, on_error: OnError = "fail"
) -> DataFrame:
    """Keys and values decoded in one step, by `json_text(...)`, `avro(...)`, `text()`, `primitive(...)`.

    on_error: "fail", "null" (only the part that is bad becomes null), or `dead_letters(...)`.
    """
    frame = _with_results(df, key, value)
    if isinstance(on_error, DeadLetters):
        return _reported(frame, df.columns, on_error)
    if on_error == "null":
        return frame.select(*_good_columns(df.columns, frame))
    if on_error == "fail":
        return _or_fail(frame).select(*_good_columns(df.columns, frame))
    raise ValueError(f"on_error is 'fail', 'null' or dead_letters(...), not {on_error!r}")


class Split:
    """Records that could be decoded, and dead letters of the others: rows for one write of one query."""

    def __init__(self, frame: DataFrame, columns: list[str], dead_letter_topic: str) -> None:
        self._frame = frame
        self._columns = columns
        self._topic = dead_letter_topic

    @property
    def good(self) -> DataFrame:
        """The decoded records, with the columns of the DataFrame that was split."""
        rows = self._frame.where(F.col(_ERROR).isNull())
        return rows.select(*_good_columns(self._columns, self._frame))

    @property
    def bad(self) -> DataFrame:
        """The dead letters, with the columns of the sink: key, value, topic, headers, timestamp."""
        letter = _letter(self._columns)
        rows = self._frame.where(F.col(_ERROR).isNotNull())
        return rows.select(letter.alias(_LETTER)).select(F.lit(self._topic).alias("topic"), f"{_LETTER}.*")

    def written(
        self,
        *,
        topic: str | Column,
        value: Column,
        key: Column | None = None,
        headers: Column | None = None,
        where: Column | None = None,
    ) -> DataFrame:
        """Rows for the sink in one pass over the source: good records as said here, bad ones as dead letters.

        The columns are evaluated over those of `good`; `where` chooses among the good records.
        """
        frame = self._frame.select(
            *_good_columns(self._columns, self._frame),
            F.when(F.col(_ERROR).isNotNull(), _letter(self._columns)).alias(_LETTER),
        )
        letter = F.col(_LETTER)
        bad = letter.isNotNull()
        if where is not None:
            frame = frame.where(bad | where)
        good = {
            "topic": topic if isinstance(topic, Column) else F.lit(topic),
            "key": F.lit(None).cast("binary") if key is None else key.cast("binary"),
            "value": value.cast("binary"),
            "headers": F.expr("CAST(NULL AS ARRAY<STRUCT<key: STRING, value: BINARY>>)")
            if headers is None
            else headers,
        }
        if "timestamp" in self._columns:
            good["timestamp"] = F.lit(None).cast("timestamp")
        return frame.select(
            *(
                F.when(bad, F.lit(self._topic) if name == "topic" else letter[name])
                .otherwise(column)
                .alias(name)
                for name, column in good.items()
            )
        )

    def with_dead_letters(self, output: DataFrame) -> DataFrame:
        """`output`, made of `good`, and the dead letters, as one DataFrame for one write.

        For outputs that `written` cannot express (joins, aggregates). Spark reads the source for each of the
        two parts. `output` needs a column `topic`.
        """
        if "topic" not in output.columns:
            raise ValueError("the output needs a column topic, as the dead letters have one")
        for name in {"key", "value"} & set(output.columns):
            output = output.withColumn(name, F.col(name).cast("binary"))
        return output.unionByName(self.bad, allowMissingColumns=True)


def split(
    df: DataFrame, *, key: Format | None = None, value: Format | None = None, dead_letter_topic: str
) -> Split:
    """Keys and values decoded, with the bad records as rows to be written: by the same query, exactly once if
    it writes so.

        flights = split(df, value=json_text("user string, delay int"), dead_letter_topic="flights-dlq")
        rows = flights.written(topic="delays", key=F.col("value.user"), value=F.to_json("value"))
        write_stream(rows, exactly_once=True, ...)
    """
    return Split(_with_results(df, key, value), df.columns, dead_letter_topic)


def checked(df: DataFrame, result: Column, into: str) -> DataFrame:
    """`df` with the value of a (value, error) column as the column `into`; fails at the first error."""
    name = _RESULTS["value"]
    frame = df.withColumn(name, result)
    frame = frame.withColumn(_ERROR, _with_part(F.col(name)["error"], into, letters.VALUE_STAGE))
    return _or_fail(frame).withColumn(into, F.col(name)["value"]).drop(name, _ERROR)


def _with_results(df: DataFrame, key: Format | None, value: Format | None) -> DataFrame:
    """`df` with a column of results for each part that is decoded, and the first error of the record."""
    forms = {name: form for name, form in (("key", key), ("value", value)) if form is not None}
    if not forms:
        raise ValueError("nothing to decode: give a format for key or value")
    kinds = {entry.name: entry.dataType for entry in df.schema.fields}
    for name in forms:
        if not isinstance(kinds.get(name), (BinaryType, StringType)):
            found = kinds[name].simpleString() if name in kinds else "missing"
            raise ValueError(f"the column {name} has to be binary (or a string) to be decoded; it is {found}")
    frame = df.withColumns({_RESULTS[name]: form.parsed(F.col(name)) for name, form in forms.items()})
    frame = frame.withColumns(
        {_RESULTS[name]: form.judged(F.col(_RESULTS[name])) for name, form in forms.items()}
    )
    errors = [_with_part(F.col(_RESULTS[name])["error"], name, _STAGES[name]) for name in forms]
    return frame.withColumn(_ERROR, F.coalesce(*errors))


def _with_part(error: Column, part: str, stage: str) -> Column:
    """An error with what it is about; null stays null."""
    return F.when(
        error.isNotNull(),
        F.struct(
            error["exception"].alias("exception"),
            F.concat(F.lit(f"{part}: "), error["message"]).alias("message"),
            F.lit(stage).alias("stage"),
        ),
    )


def _good_columns(names: list[str], frame: DataFrame) -> list[Column]:
    return [
        F.col(_RESULTS[name])["value"].alias(name)
        if name in _RESULTS and _RESULTS[name] in frame.columns
        else F.col(f"`{name}`")
        for name in names
    ]


def _or_fail(frame: DataFrame) -> DataFrame:
    """A filter, because Spark may leave out a column that nobody asks for, but never a filter."""
    places = [
        F.concat(F.lit(f"{name} "), F.col(name).cast("string"))
        for name in ("topic", "partition", "offset")
        if name in frame.columns
    ]
    error = F.col(_ERROR)
    reason = F.concat(error["exception"], F.lit(": "), error["message"])
    message = F.concat_ws(", ", *places, reason) if places else reason
    return frame.where(F.when(error.isNull(), F.lit(True)).otherwise(F.raise_error(message).cast("boolean")))


def _letter(names: list[str]) -> Column:
    """The dead letter of a record with an error: its own bytes, and headers that say what happened."""
    error = F.col(_ERROR)
    entries = {
        letters.HEADER_TOPIC: F.col("topic") if "topic" in names else None,
        letters.HEADER_PARTITION: F.col("partition") if "partition" in names else None,
        letters.HEADER_OFFSET: F.col("offset") if "offset" in names else None,
        letters.HEADER_STAGE: error["stage"],
        letters.HEADER_EXCEPTION: error["exception"],
        letters.HEADER_MESSAGE: error["message"],
    }
    added = F.array(
        *(
            F.struct(F.lit(name).alias("key"), column.cast("string").cast("binary").alias("value"))
            for name, column in entries.items()
            if column is not None
        )
    )
    headers = F.concat(F.coalesce(F.col("headers"), F.array()), added) if "headers" in names else added
    nothing = F.lit(None).cast("binary")
    parts: dict[str, Column] = {
        "key": F.col("key").cast("binary") if "key" in names else nothing,
        "value": F.col("value").cast("binary") if "value" in names else nothing,
        "headers": headers,
    }
    if "timestamp" in names:
        parts["timestamp"] = F.col("timestamp")
    return F.struct(*(column.alias(name) for name, column in parts.items()))


def _reported(frame: DataFrame, names: list[str], target: DeadLetters) -> DataFrame:
    good = frame.select(*_good_columns(names, frame))
    letter = F.when(F.col(_ERROR).isNotNull(), _letter(names)).alias(_LETTER)
    both = frame.select(*_good_columns(names, frame), letter)
    return both.mapInArrow(reporter(target, _LETTER), good.schema)
