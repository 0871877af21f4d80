-- The counter would give a number that is taken.
--
-- A twin, because there the counter is a sequence and not a table.
SELECT NULL, 'the sequence is at ' || last_value || ', but a job has number ' || (SELECT max(seq) FROM job)
  FROM job_number
 WHERE last_value < (SELECT max(seq) FROM job) OR last_value < (SELECT max(id) FROM job)
