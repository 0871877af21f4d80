SELECT kind, count(*), min(date_started) FROM job WHERE status = 'in_progress' GROUP BY kind ORDER BY kind
