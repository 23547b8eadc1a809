"""Reading topics with Spark: the data source, its offsets, its readers."""
