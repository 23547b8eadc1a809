"""Counts the words of a topic's lines. Run it with

ottla streams run wordcount.py
"""

from ottla.streams import StreamsBuilder

builder = StreamsBuilder()
lines = builder.stream("quickstart-events")
words = lines.flat_map_values(lambda line: line.lower().split())
counts = words.group_by(lambda key, word: word).count()
counts.to_stream().to("output-topic", value_serde="long")
