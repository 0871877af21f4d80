-- The counter would give a number that is taken.
SELECT NULL, 'the sequence is at ' || value || ', but a job has number ' || (SELECT max(seq) FROM job)
  FROM sequence
 WHERE value < (SELECT max(seq) FROM job) OR value < (SELECT max(id) FROM job)
