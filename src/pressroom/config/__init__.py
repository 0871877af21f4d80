"""Settings: defaults < pressroom.toml < environment < flags. Read once, frozen, and every problem told at once.

A layer holds only what was really set, so that a default can never beat a file. The names of the source designs
(JOB_POLL_INTERVAL_MS and others) are understood beside our own; docs/settings.md lists them all.

Each setting is declared once (`declaration.setting`), in `queue_settings`, `service_settings`, `artifact_settings`, or in the
settings of an app. Names, problem messages and the tables of docs/settings.md follow from the declaration.
"""

from pressroom.config.addresses import mask_password
from pressroom.config.declaration import DeclaredSettings
from pressroom.config.description import describe_settings
from pressroom.config.early import find_apps_setting, find_log_format
from pressroom.config.load import ENVIRONMENT, IN_FILE, FindSections, load_settings
from pressroom.config.queue_settings import DELIVERIES, SHORTEST_KEY
from pressroom.config.settings import Settings

__all__ = [
    "DELIVERIES",
    "ENVIRONMENT",
    "IN_FILE",
    "SHORTEST_KEY",
    "DeclaredSettings",
    "FindSections",
    "Settings",
    "describe_settings",
    "find_apps_setting",
    "find_log_format",
    "load_settings",
    "mask_password",
]
