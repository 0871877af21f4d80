-- Pages that say of these articles that they are not there yet. Their HTML stays until there is another.
UPDATE wiki_revision
   SET render_status = 'stale'
 WHERE render_status = 'rendered'
   AND (article, number) IN (
       SELECT wiki_article.id, head
         FROM wiki_link CROSS JOIN wiki_article ON wiki_article.id = wiki_link.article -- in this order, whatever the planner thinks
        WHERE org_id = :org_id AND wiki_link.url IN (SELECT value FROM json_each(:urls)))
