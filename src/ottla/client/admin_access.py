"""Administration of who may do what: ACLs, quotas, passwords and tokens, put together from their parts.

Kept apart from `admin.py`, so that a command about topics does not load all of it.
"""

from __future__ import annotations

from ottla.client.admin_acls import AclAdmin
from ottla.client.admin_quotas import QuotaAdmin
from ottla.client.admin_scram import ScramAdmin
from ottla.client.admin_tokens import TokenAdmin


class AccessAdmin(AclAdmin, QuotaAdmin, ScramAdmin, TokenAdmin):
    """The parts share nothing but the cluster, so that together they are one object."""
