-- SQLite has one writer at a time: no lock is needed.
SELECT id, org_id, url, title, head, shown, date_created, date_changed
  FROM wiki_article
 WHERE id IN (SELECT value FROM json_each(:ids))
 ORDER BY id
