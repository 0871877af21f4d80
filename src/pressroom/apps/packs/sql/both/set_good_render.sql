-- An older render that ends late never takes the place of a newer one.
UPDATE packs_document
   SET good = :number
 WHERE pack = :pack AND doc_id = :doc_id AND (good IS NULL OR good < :number)
