-- Every item of the phase starts in progress. :names is an array, in order.
INSERT INTO job_item (job_id, claim, noun, name, position, state)
SELECT :id, :claim, :noun, value, key, 'in_progress' FROM json_each(:names)
