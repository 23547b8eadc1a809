"""What a visitor did, and the topic that each kind of activity has."""

from __future__ import annotations

PAGE_VIEWS = "site.page-views"
SEARCHES = "site.searches"
ORDERS = "site.orders"
TOPICS = (PAGE_VIEWS, SEARCHES, ORDERS)
