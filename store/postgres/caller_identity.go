package postgres

import "context"

// sqlIdentity identifies the database: the cluster, by its system identifier, and the database in
// it. Copies of a cluster have the same system identifier, so a restored copy on another server is
// not told from the original.
const sqlIdentity = `
SELECT concat_ws('/', (SELECT system_identifier FROM pg_control_system()), (SELECT oid FROM pg_database WHERE datname = current_database()))`

// identityKey is where a connection of a caller keeps the identity of its database.
const identityKey = "rota/identity"

func (s *Store) readIdentity(ctx context.Context, c *session) error {
	return c.send(ctx, statement{sql: sqlIdentity, eachRow: func(r row) error {
		s.identity = r.Text(0)
		return nil
	}})
}

// identify finds out, once for each connection, whether the caller's transaction is on the
// database of the store.
func (t *tx) identify() {
	data := t.conn.CustomData()
	if known, is := data[identityKey].(string); is && known == t.store.identity {
		return
	}
	t.queue(statement{sql: sqlIdentity, eachRow: func(r row) error {
		found := r.Text(0)
		if found != t.store.identity {
			t.caller.refusal = badTx("is on another database than the store", "begin it on the database of the store's URL")
			return errCallerRefused
		}
		data[identityKey] = found
		return nil
	}})
}
