-- After a change of the limit of each key of a prefix or a type, one intent of the kind keys is for
-- all keys after its name.
CREATE TABLE rota_intents_too (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,

  PRIMARY KEY (kind, name),
  CHECK (kind = 'group' OR kind = 'key' OR kind = 'template' OR kind = 'drop' OR kind = 'keys')
) STRICT, WITHOUT ROWID;

INSERT INTO rota_intents_too (kind, name)
SELECT kind, name
FROM rota_intents;

DROP TABLE rota_intents;
ALTER TABLE rota_intents_too RENAME TO rota_intents;
