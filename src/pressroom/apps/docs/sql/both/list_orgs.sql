-- `only` is the one organisation that a caller may see, or empty for all.
SELECT /* org_columns */
  FROM docs_org
 WHERE slug > :after AND (:only = '' OR slug = :only)
 ORDER BY slug
 LIMIT :limit
