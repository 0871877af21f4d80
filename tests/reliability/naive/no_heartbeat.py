"""A lease that nobody renews: whatever takes longer than the lease is taken away, again and again."""


def spoil(statements: dict[str, str]) -> None:
    statements["renew_leases"] = """
        SELECT job.id, job.cancel_requested
          FROM job
          JOIN (SELECT value->>0 AS id, value->>1 AS claim FROM json_each(:claims)) AS held
            ON job.id = held.id AND job.claim = held.claim
         WHERE job.status = 'in_progress'
    """
