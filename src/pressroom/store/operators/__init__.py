"""What operators read: figures, lists, searches, failures, the audit log. Only `audit` and `failures` write."""
