SELECT uid FROM token WHERE uid = :name OR prefix = :name
