-- What was said of deleted jobs in the transaction that deletes them. The history is written last, when the trigger that takes it
-- along has long run.
DELETE FROM job_event WHERE job_id IN (SELECT value::bigint FROM json_array_elements_text(:ids::json))
