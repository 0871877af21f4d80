UPDATE packs_pack SET link_digest = :digest, link_expires_at = :expires_at, date_changed = :now WHERE id = :id
