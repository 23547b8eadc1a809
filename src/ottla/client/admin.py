"""Administration of topics, configurations and the cluster, put together from its parts.

Each part is a class of operations (generators over effects) for one noun. What concerns many things is
answered thing by thing, as `Results`; only a failure of the whole is raised. An API that the broker does not
have is an UnsupportedVersion that names it. Groups, transactions and access (`admin_access.py`) are apart.
"""

from __future__ import annotations

from ottla.client.admin_cluster import (
    BrokerDescription,
    ClusterAdmin,
    ClusterDescription,
    FeatureDescription,
)
from ottla.client.admin_configs import (
    ConfigAdmin,
    ConfigChange,
    ConfigEntry,
    ConfigOperation,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    ConfigSynonym,
)
from ottla.client.admin_log_dirs import LogDirAdmin, LogDirDescription, LogDirPartition
from ottla.client.admin_offsets import EARLIEST, LATEST, MAX_TIMESTAMP, OffsetAdmin, OffsetResult
from ottla.client.admin_part import ADMIN_TIMEOUT_MS
from ottla.client.admin_partitions import PartitionAdmin
from ottla.client.admin_results import Results
from ottla.client.admin_topics import (
    CreatedTopic,
    NewTopic,
    PartitionDescription,
    TopicAdmin,
    TopicDescription,
)

__all__ = [
    "ADMIN_TIMEOUT_MS",
    "EARLIEST",
    "LATEST",
    "MAX_TIMESTAMP",
    "Admin",
    "BrokerDescription",
    "ClusterDescription",
    "ConfigChange",
    "ConfigEntry",
    "ConfigOperation",
    "ConfigResource",
    "ConfigResourceType",
    "ConfigSource",
    "ConfigSynonym",
    "CreatedTopic",
    "FeatureDescription",
    "LogDirDescription",
    "LogDirPartition",
    "NewTopic",
    "OffsetResult",
    "PartitionDescription",
    "Results",
    "TopicDescription",
]


class Admin(TopicAdmin, ConfigAdmin, OffsetAdmin, PartitionAdmin, LogDirAdmin, ClusterAdmin):
    """The parts share nothing but the cluster, so that together they are one object."""
