"""From a plan to Spark: the one place where the DSL's nodes become DataFrames."""
