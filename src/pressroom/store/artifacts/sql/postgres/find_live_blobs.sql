SELECT blob.sha256, blob.generation
  FROM json_array_elements_text(:hashes::json) AS wanted (sha256)
  JOIN blob ON blob.sha256 = wanted.sha256
 WHERE blob.state = 'live'
