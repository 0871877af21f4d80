UPDATE packs_pack SET date_deleted = :now, link_digest = NULL, link_expires_at = NULL WHERE id = :id
