"""The vocabulary: types, error codes, limits and configuration keys that every layer shares."""
