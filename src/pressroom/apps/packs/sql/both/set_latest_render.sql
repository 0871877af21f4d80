INSERT INTO packs_document (pack, doc_id, latest) VALUES (:pack, :doc_id, :number)
ON CONFLICT (pack, doc_id) DO UPDATE SET latest = excluded.latest
