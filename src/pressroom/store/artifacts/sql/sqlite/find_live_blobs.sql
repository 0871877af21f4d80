SELECT blob.sha256, blob.generation
  FROM json_each(:hashes) AS wanted
  JOIN blob ON blob.sha256 = wanted.value
 WHERE blob.state = 'live'
