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

// openMax is how long a server may take to answer while a store is opened.
const openMax = 30 * time.Second

// Open opens the store in the database that a URL names, and makes it if it is
// not there. The URL is PostgreSQL's own, postgres://user@host:5432/name; of its
// parameters `schema` names the schema, `pool_max_conns` says how many connections
// may be open, and `poll=true` that they lead to a pooler.
func Open(url string) (*Store, error) { return OpenWith(url, Config{}) }

// OpenWith opens a store with a Config. What the URL says of the schema and of
// polling comes before it.
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
		dialect: &dialect{schema: pgx.Identifier{config.Schema}.Sanitize()}, lockSpace: lockSpaceOf(config.Schema),
	}
	s.reader = reader{withConn: s.withPoolConn, withSnapshot: s.withPoolSnapshot, clockParam: s.clockOverride}
	if !strings.Contains(url, "pool_max_conns") {
		parsed.MaxConns = int32(config.Conns)
	}
	parsed.ShouldPing = shouldPing
	s.conns = parsed.MaxConns
	s.viewSemaphore = make(chan struct{}, max(1, s.conns-connsForWork))
	if s.pool, err = pgxpool.NewWithConfig(ctx, parsed); err != nil {
		return nil, fault("open", err)
	}
	if err := s.prepare(ctx, parsed.ConnConfig); err != nil {
		s.pool.Close()
		return nil, err
	}
	return s, nil
}

// prepare brings the schema up to date, and finds out whether connections are our
// own.
func (s *Store) prepare(ctx context.Context, config *pgx.ConnConfig) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return fault("open", err)
	}
	err = migrate(ctx, conn.Conn().PgConn(), s.dialect, s.config.ReadOnly)
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), openMax) // whatever that took
	defer done()
	own := err == nil && s.ownBackend(ctx, s.session(conn))
	conn.Release()
	if err != nil {
		return fault("open", err)
	}
	s.listener = newListener(s, config)
	s.dialect.prepares = !s.config.Poll && own && s.listener.selfTest(ctx)
	if !s.config.Poll && !s.dialect.prepares {
		s.config.Logger.Warn("the store is reached through a pooler, or notifications do not arrive; looking for work at intervals",
			"every", pollEvery.String())
	}
	if !s.config.ReadOnly {
		s.listener.start(s.dialect.prepares)
	}
	return nil
}

const sqlBackend = `
SELECT pg_backend_pid()`

// ownBackend says whether the one who answers is who we were connected to: a
// pooler answers the connecting itself, and lends somebody else's backend.
func (s *Store) ownBackend(ctx context.Context, c *session) (own bool) {
	err := c.send(ctx, statement{sql: sqlBackend, eachRow: func(r row) error {
		own = r.int(0) == int64(c.conn.PID())
		return nil
	}})
	return err == nil && own
}

// lockSpaceOf keeps the locks of two stores in one database apart.
func lockSpaceOf(schema string) int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte("rota/" + schema))
	return int32(h.Sum32())
}

// parseURL takes out of a URL what is ours.
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
			return nil, rota.Invalidf("store", "poll is %q in the URL; allowed are true and false", poll)
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
	// No statement of pgx's own is kept in a connection.
	parsed.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	return parsed, nil
}

// badURL says what is wrong with a URL without repeating it: it may hold a
// password, which pgx takes out of what it says.
func badURL(err error) *rota.Error {
	return &rota.Error{
		Code: rota.Invalid, Act: "postgres: open", Field: "store", Reason: "the URL cannot be read", Err: err,
		Hint: "write it as postgres://user:password@host:5432/database?schema=rota",
	}
}

const schemaMax = 63 // what PostgreSQL keeps of a name

func checkSchema(name string) error {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return rota.Invalidf("schema", "%q is no name for a schema; use lower-case letters, digits and _, a letter first", name)
		}
	}
	if strings.HasPrefix(name, "pg_") {
		return rota.Invalidf("schema", "%q is no name for a schema; those that begin with pg_ are PostgreSQL's own", name)
	}
	if len(name) > schemaMax {
		return rota.Invalidf("schema", "is %d bytes long; at most %d are allowed", len(name), schemaMax)
	}
	return nil
}

// acquire lends a connection.
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

// endTransaction ends a transaction, or the connection if that cannot be done.
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

const sqlClock = `
SELECT ` + clockNow

// now is the time by PostgreSQL's clock, with the precision that is kept.
func (s *Store) now(ctx context.Context) (now time.Time, err error) {
	if s.config.Clock != nil {
		return s.config.Clock().UTC().Truncate(time.Microsecond), nil
	}
	err = s.query(ctx, "now", statement{sql: sqlClock, eachRow: func(r row) error {
		now = r.time(0)
		return nil
	}})
	return now, err
}
