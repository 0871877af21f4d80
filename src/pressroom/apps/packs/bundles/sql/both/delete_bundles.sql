DELETE FROM packs_bundle WHERE pack = :pack
