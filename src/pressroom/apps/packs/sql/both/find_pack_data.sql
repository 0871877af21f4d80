SELECT body FROM packs_data WHERE pack = :pack AND number = :number
