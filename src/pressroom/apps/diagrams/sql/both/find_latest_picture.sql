-- The newest picture of a kind, of whichever version: what is shown while a newer one is not there yet.
SELECT number, artifact
  FROM diagram_picture
 WHERE diagram = :diagram AND output = :output AND theme = :theme
 ORDER BY number DESC
 LIMIT 1
