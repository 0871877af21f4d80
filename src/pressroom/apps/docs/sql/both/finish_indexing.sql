UPDATE docs_search SET state = 'complete', date_changed = :now
 WHERE build = :build AND attempt = :attempt AND state = 'indexing'
RETURNING build
