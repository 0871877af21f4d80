DELETE FROM packs_overlay WHERE org_id = :org_id AND doc_id = :doc_id AND scope = :scope AND scope_id = :scope_id RETURNING doc_id
