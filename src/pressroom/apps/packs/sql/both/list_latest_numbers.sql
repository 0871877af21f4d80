SELECT doc_id, latest FROM packs_document WHERE pack = :pack
