"""The core's own kinds: renders, webhook deliveries, bulk actions."""
