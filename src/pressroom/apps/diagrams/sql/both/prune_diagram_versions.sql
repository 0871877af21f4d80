-- The oldest versions that need not be kept, with their pictures. Some at a time: the bound may have been set late.
--
-- Never the one that is shown, and none whose job has yet to end.
DELETE FROM diagram_version
 WHERE diagram = :diagram
   AND number IN (SELECT number
                    FROM diagram_version
                   WHERE diagram = :diagram AND number <= :last AND number <> :good AND status <> 'pending'
                   ORDER BY number
                   LIMIT :limit)
RETURNING number
