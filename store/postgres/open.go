package postgres

import (
	"context"
	"hash/fnv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotajobs/rota"
)

// openMax is the time limit for a server to answer while a store opens.
const openMax = 30 * time.Second

// Open opens the store in the database that a URL names, and creates the schema if it is missing.
// The URL is PostgreSQL's own, postgres://user@host:5432/name. Rota reads three of its parameters:
// `schema` names the schema, `pool_max_conns` limits the connections, and `poll=true` declares that
// the URL leads to a pooler.
func Open(url string) (*Store, error) { return OpenWith(url, Config{}) }

// OpenWith opens a store with a Config. The schema and poll parameters of the URL take precedence
// over it.
func OpenWith(url string, config Config) (*Store, error) {
	parsed, err := parseURL(url, &config)
	if err != nil {
		return nil, err
	}
	config = config.withDefaults()
	if err := checkSchema(config.Schema); err != nil {
		return nil, err
	}
	ctx, done := context.WithTimeout(context.Background(), openMax)
	defer done()
	s := &Store{
		config: config, closed: make(chan struct{}),
		dialect: newDialect(config.Schema), callerDialect: newDialect(config.Schema), lockSpace: lockSpaceOf(config.Schema),
	}
	s.reader = reader{withConn: s.withPoolConn, withSnapshot: s.withPoolSnapshot}
	s.reader.init(s.clockOverride)
	if !strings.Contains(url, "pool_max_conns") {
		parsed.MaxConns = int32(config.Conns)
	}
	parsed.ShouldPing = shouldPing
	s.conns = parsed.MaxConns
	s.viewSemaphore = make(chan struct{}, max(1, s.conns-connsForWork))
	if s.pool = config.pool; s.pool == nil {
		if s.pool, err = pgxpool.NewWithConfig(ctx, parsed); err != nil {
			return nil, fault("open", err)
		}
	}
	if err := s.prepare(ctx, parsed.ConnConfig); err != nil {
		if config.pool == nil {
			s.pool.Close()
		}
		return nil, err
	}
	return s, nil
}

// prepare migrates the schema, and finds out whether connections lead to backends of their own.
func (s *Store) prepare(ctx context.Context, config *pgx.ConnConfig) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return fault("open", err)
	}
	if err = s.checkMarks(ctx, conn.Conn().PgConn()); err == nil {
		err = migrate(ctx, conn.Conn().PgConn(), s.dialect, s.config.ReadOnly)
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), openMax) // a migration may have used up the time of ctx
	defer done()
	own := err == nil && s.ownBackend(ctx, s.session(conn))
	if err == nil {
		err = s.readIdentity(ctx, s.session(conn))
	}
	conn.Release()
	if err != nil {
		return fault("open", err)
	}
	s.listener = newListener(s, config)
	s.pending.open(s, config)
	s.bus = newBus(s, s.listener.name)
	s.dialect.prepares = !s.config.Poll && own && s.listener.selfTest(ctx)
	if !s.config.Poll && !s.dialect.prepares {
		s.config.Logger.Warn("the store is behind a pooler or notifications do not arrive; polling for ready jobs",
			"every", pollEvery.String())
	}
	if !s.config.ReadOnly {
		s.listener.start(s.dialect.prepares)
	}
	return nil
}

const sqlBackend = `
SELECT pg_backend_pid()`

// ownBackend reports whether the backend that answers is the one that accepted the connection. A
// pooler accepts connections itself and lends any backend.
func (s *Store) ownBackend(ctx context.Context, c *session) (own bool) {
	err := c.send(ctx, statement{sql: sqlBackend, eachRow: func(r row) error {
		own = r.Int(0) == int64(c.conn.PID())
		return nil
	}})
	return err == nil && own
}

// lockSpaceOf returns the first key of the advisory locks of a schema. It keeps the locks of two
// stores in one database apart.
func lockSpaceOf(schema string) int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte("rota/" + schema))
	return int32(h.Sum32())
}

// parseURL parses a URL and removes Rota's parameters from it.
func parseURL(url string, config *Config) (*pgxpool.Config, error) {
	parsed, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, badURL(err)
	}
	params := parsed.ConnConfig.RuntimeParams
	if schema, ok := params["schema"]; ok {
		config.Schema = schema
		delete(params, "schema")
	}
	if poll, ok := params["poll"]; ok {
		if poll != "true" && poll != "false" {
			return nil, rota.Invalidf("store", "poll=%s in the URL is unknown; use poll=true or poll=false", poll)
		}
		config.Poll = poll == "true"
		delete(params, "poll")
	}
	if params["application_name"] == "" {
		params["application_name"] = "rota"
	}
	if parsed.ConnConfig.ConnectTimeout == 0 {
		parsed.ConnConfig.ConnectTimeout = 10 * time.Second
	}
	// pgx keeps no prepared statements of its own in a connection.
	parsed.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	return parsed, nil
}

// badURL reports what is wrong with a URL without quoting it, because it may contain a password.
// pgx removes the password from its own message.
func badURL(err error) *rota.Error {
	return &rota.Error{
		Code: rota.Invalid, Act: "postgres: open", Field: "store", Reason: "the URL cannot be parsed", Err: err,
		Hint: "write it as postgres://user:password@host:5432/database?schema=rota",
	}
}

const schemaMax = 63 // length limit of a PostgreSQL name

func checkSchema(name string) error {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return rota.Invalidf("schema", "%q is not a schema name; use lower-case letters, digits and _, and begin with a letter or _", name)
		}
	}
	if strings.HasPrefix(name, "pg_") {
		return rota.Invalidf("schema", "%q is reserved by PostgreSQL; use a name that does not begin with pg_", name)
	}
	if len(name) > schemaMax {
		return rota.Invalidf("schema", "%q is %d bytes long; use at most %d", name, len(name), schemaMax)
	}
	return nil
}

// acquire takes a connection from the pool.
func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	select {
	case <-s.closed:
		return nil, errClosed()
	default:
	}
	conn, err := s.pool.Acquire(ctx)
	if err != nil && s.isClosed() {
		return nil, errClosed()
	}
	return conn, err
}

func (s *Store) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

func (s *Store) session(conn *pgxpool.Conn) *session {
	return &session{conn: conn.Conn().PgConn(), dialect: s.dialect}
}

// endTransaction rolls back a transaction, or closes the connection if that fails.
func (s *session) endTransaction(ctx context.Context) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), rollbackMax)
	defer done()
	if s.conn.IsClosed() || s.conn.TxStatus() == 'I' {
		return
	}
	if err := s.send(ctx, statement{sql: sqlRollback}); err != nil {
		_ = s.conn.Close(ctx)
	}
}
