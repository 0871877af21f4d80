-- Newest first.
SELECT /* pack_columns */
  FROM packs_pack
 WHERE packs_pack.org_id = :org_id AND packs_pack.date_deleted IS NULL AND packs_pack.id < :before
   AND /* pack_filters */
 ORDER BY packs_pack.id DESC
 LIMIT :limit
