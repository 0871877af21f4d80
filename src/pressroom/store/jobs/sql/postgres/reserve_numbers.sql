-- Take the next :count numbers; the last of them comes back.
SELECT reserve_numbers(:count)
