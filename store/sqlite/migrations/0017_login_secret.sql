-- The challenges of users that do not exist follow from this secret, so that they stay the same, as those of other users do.
INSERT INTO rota_meta (key, value) VALUES ('login_secret', lower(hex(randomblob(32))));
