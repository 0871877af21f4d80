SELECT id, org_id, url, title, head, shown, date_created, date_changed
  FROM wiki_article
 WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json)::bigint))
 ORDER BY id
   FOR NO KEY UPDATE
