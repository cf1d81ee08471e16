-- The roll: which processes share the store, and which of them leads. No job has
-- to do with it.

CREATE TABLE rota_nodes (
  name    text COLLATE "C" NOT NULL,
  life    uuid NOT NULL,
  since   bigint NOT NULL,
  until   bigint NOT NULL, -- unless it attends again
  PRIMARY KEY (name, life)
);

-- One row, or none: a lease like any other.
CREATE TABLE rota_leader (
  id    integer NOT NULL PRIMARY KEY,
  name  text COLLATE "C" NOT NULL,
  life  uuid NOT NULL,
  since bigint NOT NULL,
  until bigint NOT NULL,
  CONSTRAINT leader_one CHECK (id = 1)
);
