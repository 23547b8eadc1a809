"""The transaction coordinator's decisions: who may produce under an id, and how its transaction ends."""
