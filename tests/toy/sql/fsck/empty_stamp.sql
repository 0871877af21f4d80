-- A stamp says something.
SELECT NULL, name FROM toy_stamp WHERE text = ''
