-- Of an organisation, or of one of its projects; entered last first.
SELECT /* purgatory_columns */
  FROM docs_purgatory
 WHERE org = :org AND (:project = '' OR project = :project) AND id < :before
 ORDER BY id DESC
 LIMIT :limit
