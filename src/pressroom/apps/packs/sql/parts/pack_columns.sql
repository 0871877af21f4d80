packs_pack.id, packs_pack.org_id, packs_pack.session_id, packs_pack.user_id, packs_pack.title, packs_pack.lang,
       packs_pack.link_digest, packs_pack.link_expires_at, packs_pack.data_version, packs_pack.date_created, packs_pack.date_changed,
       packs_pack.date_deleted
