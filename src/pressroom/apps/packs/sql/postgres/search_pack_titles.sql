-- Packs whose titles have all words, the last of which may be only begun; the newest first.
WITH asked AS MATERIALIZED (
    SELECT to_tsquery('pg_catalog.simple', string_agg('''' || value || '''', ' & ') || ':*') AS words
      FROM json_array_elements_text(:words::json)
)
SELECT packs_pack.id, packs_pack.title
  FROM asked, packs_text
  JOIN packs_pack ON packs_pack.id = packs_text.pack
 WHERE packs_text.title_index @@ asked.words AND packs_pack.org_id = :org_id AND packs_pack.date_deleted IS NULL
 ORDER BY packs_text.id DESC
 LIMIT :limit
