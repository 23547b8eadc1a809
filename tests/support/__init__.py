"""What the tests against a real broker process share."""
