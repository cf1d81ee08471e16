package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// session is a connection in use. It sends statements in pipelines: a pipeline is one round trip.
type session struct {
	conn    *pgconn.PgConn
	dialect *dialect
}

// dialect is how the store writes its statements: qualified with its schema, and prepared where the
// connection has a backend of its own. Behind a pooler that lends a backend for each transaction
// nothing may stay in it.
type dialect struct {
	schema   string // quoted
	prepares bool
	key      string // of the texts and prepared statements among the data of a connection
}

func newDialect(schema string) *dialect {
	quoted := pgx.Identifier{schema}.Sanitize()
	return &dialect{schema: quoted, key: "rota/" + quoted}
}

// qualify replaces the prefix rota_ of tables and functions by the schema. The SQL of this package
// uses the table names of the SQLite store, so that both can be read side by side.
func (d *dialect) qualify(sql string) string { return strings.ReplaceAll(sql, "rota_", d.schema+".") }

// statement is one SQL statement of a pipeline with its parameters and the callbacks for its
// result.
type statement struct {
	sql       string
	params    []param
	varies    bool            // its text depends on the filters of a query: it is not kept
	eachRow   func(row) error // called for each row; may be nil
	afterRows func()          // called after the last row; may be nil

	late       func() statement // returns the statement when it is sent, in place of this one; may be nil
	onConflict error            // error returned instead of a serialization failure; nil keeps the failure

	onLockTimeout func(error) error // replaces the error of a lock time-out; may be nil
}

// prepared holds the prepared statements of a connection, by their text. Their number is bounded by that of the texts
// in this package: statements whose text varies are not among them.
type prepared struct {
	statements map[string]*pgconn.StatementDescription
	texts      map[string]string // qualified texts, where statements are not prepared
}

func (s *session) prepared() *prepared {
	data := s.conn.CustomData()
	if p, ok := data[s.dialect.key].(*prepared); ok {
		return p
	}
	p := &prepared{statements: map[string]*pgconn.StatementDescription{}, texts: map[string]string{}}
	data[s.dialect.key] = p
	return p
}

// send executes statements in order in one round trip. PostgreSQL skips the statements after the
// first that fails.
func (s *session) send(ctx context.Context, statements ...statement) error {
	if len(statements) == 0 {
		return nil
	}
	known := s.prepared()
	pipe := s.conn.StartPipeline(ctx)
	prepares := make([]bool, len(statements)) // whether a Parse goes before the statement
	preparing := map[string]string{}
	for i := range statements {
		prepares[i] = s.sendOne(pipe, &statements[i], known, preparing)
	}
	var callbackErr error // error of an eachRow callback
	err := pipe.Sync()
	for i := 0; err == nil && i < len(statements); i++ {
		if prepares[i] {
			err = known.readPrepared(pipe, statements[i].sql, preparing[statements[i].sql])
		}
		if err == nil {
			err = readRows(pipe, statements[i].eachRow, &callbackErr)
		}
		if err == nil && statements[i].afterRows != nil {
			statements[i].afterRows()
		}
		if statements[i].onConflict != nil && isRetryable(err) {
			err = statements[i].onConflict
		}
		if statements[i].onLockTimeout != nil && stateOf(err) == stateLockTimeout {
			err = statements[i].onLockTimeout(err)
		}
	}
	if closed := pipe.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = callbackErr
	}
	return err
}

// sendOne sends one statement, and before it prepares it if the connection does not know it yet.
func (s *session) sendOne(pipe *pgconn.Pipeline, a *statement, known *prepared, preparing map[string]string) (prepares bool) {
	values, oids := make([][]byte, len(a.params)), make([]uint32, len(a.params))
	for i, p := range a.params {
		values[i], oids[i] = p.data, p.oid
	}
	if a.varies {
		pipe.SendQueryParams(s.dialect.qualify(a.sql), values, oids, binaryFormat, binaryFormat)
		return false
	}
	if !s.dialect.prepares {
		text, ok := known.texts[a.sql]
		if !ok {
			text = s.dialect.qualify(a.sql)
			known.texts[a.sql] = text
		}
		pipe.SendQueryParams(text, values, oids, binaryFormat, binaryFormat)
		return false
	}
	if known := known.statements[a.sql]; known != nil {
		pipe.SendQueryStatement(known, values, binaryFormat, binaryFormat)
		return false
	}
	name, ok := preparing[a.sql]
	if !ok {
		name, prepares = "rota"+strconv.Itoa(len(known.statements)+len(preparing)+1), true
		preparing[a.sql] = name
		pipe.SendPrepare(name, s.dialect.qualify(a.sql), oids)
	}
	pipe.SendQueryPrepared(name, values, binaryFormat, binaryFormat)
	return prepares
}

// readPrepared reads the answer to a Parse.
func (p *prepared) readPrepared(pipe *pgconn.Pipeline, sql, name string) error {
	results, err := pipe.GetResults()
	if err != nil {
		return err
	}
	statement, ok := results.(*pgconn.StatementDescription)
	if !ok {
		return errPipeline
	}
	statement.Name = name
	p.statements[sql] = statement
	return nil
}

// binaryFormat is the format of every parameter and result column.
var binaryFormat = []int16{1}

// readRows reads all rows, also after a callback has failed, because the answers that follow in the
// pipeline must be read too.
func readRows(pipe *pgconn.Pipeline, each func(row) error, callbackErr *error) error {
	results, err := pipe.GetResults()
	if err != nil {
		return err
	}
	reader, ok := results.(*pgconn.ResultReader)
	if !ok {
		return errPipeline
	}
	for reader.NextRow() {
		if each != nil && *callbackErr == nil {
			*callbackErr = each(reader.Values())
		}
	}
	_, err = reader.Close()
	return err
}

var errPipeline = errors.New("PostgreSQL sent an answer that does not belong to the statement")

func itoa(n int) string { return strconv.Itoa(n) }
