"""What happens before a job is in the queue: checks, admission, who may submit, fair slots for callers that wait."""
