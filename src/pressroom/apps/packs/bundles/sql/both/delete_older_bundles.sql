DELETE FROM packs_bundle WHERE pack = :pack AND number < :number AND outcome IS NOT NULL
