-- After a change of the limit of each key of a prefix or a type, one intent of the kind keys is for
-- all keys after its name.
ALTER TABLE rota_intents DROP CONSTRAINT intents_kind;
ALTER TABLE rota_intents ADD CONSTRAINT intents_kind CHECK (kind IN ('group', 'key', 'template', 'drop', 'keys'));
