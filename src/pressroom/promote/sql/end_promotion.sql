UPDATE pressroom_promotion SET date_ended = now()
