SELECT /* org_columns */
  FROM docs_org
 WHERE slug = :slug
