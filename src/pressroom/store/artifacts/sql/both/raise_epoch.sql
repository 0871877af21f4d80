UPDATE blob_epoch SET value = :value WHERE "only" = 1 AND value < :value
