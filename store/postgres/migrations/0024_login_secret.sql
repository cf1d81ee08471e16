-- The challenges of users that do not exist follow from this secret, so that they are the same on all nodes and stay the same, as
-- those of other users do.
INSERT INTO rota_meta (key, value) VALUES ('login_secret', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));
