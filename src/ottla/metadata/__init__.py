"""Cluster records, the image they build, and the controller's decisions."""
