-- Pages that say of these articles that they are not there yet. Their HTML stays until there is another.
UPDATE wiki_revision
   SET render_status = 'stale'
 WHERE render_status = 'rendered'
   AND (article, number) IN (
       SELECT wiki_article.id, head
         FROM wiki_link JOIN wiki_article ON wiki_article.id = wiki_link.article
        WHERE org_id = :org_id AND wiki_link.url = ANY (ARRAY(SELECT json_array_elements_text(:urls::json))))
