MINE = "hmac of the user"
