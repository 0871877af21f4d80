SELECT id, org_id, url, title, head, shown, date_created, date_changed
  FROM wiki_article
 WHERE org_id = :org_id AND url = ANY (ARRAY(SELECT json_array_elements_text(:urls::json)))
