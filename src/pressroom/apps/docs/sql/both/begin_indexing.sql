-- No row if the build is indexed. An attempt takes the place of one before it, which writes nothing more.
INSERT INTO docs_search (build, state, attempt, date_changed)
VALUES (:build, 'indexing', :attempt, :now)
ON CONFLICT (build) DO UPDATE SET state = 'indexing', attempt = excluded.attempt, date_changed = excluded.date_changed
 WHERE docs_search.state <> 'complete'
RETURNING build
