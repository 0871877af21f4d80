DELETE FROM docs_search WHERE build = :build AND attempt = :attempt AND state = 'leaving'
