"""What is in a record's value: JSON, Avro, text; and what becomes of bad records."""
