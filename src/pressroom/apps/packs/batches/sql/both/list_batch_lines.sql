SELECT packs_batch_state.number, packs_batch_state.pack, packs_pack.title, packs_batch_state.status, packs_batch_state.error,
       packs_batch_state.skipped
  FROM packs_batch_state
  LEFT JOIN packs_pack ON packs_pack.id = packs_batch_state.pack
 WHERE packs_batch_state.batch = :batch AND packs_batch_state.number > :after
   AND (:status = '' OR packs_batch_state.status = :status)
 ORDER BY packs_batch_state.number
 LIMIT :limit
