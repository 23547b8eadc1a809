"""Reading: from fetch responses to what a consumer hands out."""
