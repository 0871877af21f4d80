"""What users and operators go through, from submit to the last answer."""
