"""Writing topics with Spark: at least once as a data source, exactly once as a query."""
