"""Consumer groups of the next generation (KIP-848): the broker assigns, and reconciles each member on its
own.
"""
