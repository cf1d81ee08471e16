package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// session is a connection while it is lent. Statements are sent some at a time:
// what is asked together costs one round trip.
type session struct {
	conn    *pgconn.PgConn
	dialect *dialect
}

// dialect is how statements are written to this store: with its schema, and
// under names where the connection is a backend of its own. Behind a pooler that
// lends backends for one transaction nothing may be left in them.
type dialect struct {
	schema   string // quoted
	prepares bool
}

// The SQL of this package names tables and functions as they are called in the
// embedded store, so that both can be read side by side; each is qualified with
// the schema before it is sent.
func (d *dialect) qualify(sql string) string { return strings.ReplaceAll(sql, "rota_", d.schema+".") }

// statement is one statement, what it is given, and who hears its rows.
type statement struct {
	sql       string
	params    []param
	eachRow   func(row) error // nil: nobody
	afterRows func()          // called when all rows were heard; nil: nobody is

	onConflict error // what it means that something has moved; nil: that
}

// prepared are the statements that a connection knows, by their text.
type prepared struct {
	statements map[string]*pgconn.StatementDescription
	texts      map[string]string // qualified, where none are kept
}

const preparedKey = "rota"

func (s *session) prepared() *prepared {
	data := s.conn.CustomData()
	if p, ok := data[preparedKey].(*prepared); ok {
		return p
	}
	p := &prepared{statements: map[string]*pgconn.StatementDescription{}, texts: map[string]string{}}
	data[preparedKey] = p
	return p
}

// send asks, in order, in one round trip. The first that PostgreSQL refuses ends
// it: those behind it are not executed.
func (s *session) send(ctx context.Context, statements ...statement) error {
	if len(statements) == 0 {
		return nil
	}
	known := s.prepared()
	pipe := s.conn.StartPipeline(ctx)
	prepares := make([]bool, len(statements)) // those whose preparing goes before them
	preparing := map[string]string{}
	for i := range statements {
		prepares[i] = s.sendOne(pipe, &statements[i], known, preparing)
	}
	var unheard error // of one who hears
	err := pipe.Sync()
	for i := 0; err == nil && i < len(statements); i++ {
		if prepares[i] {
			err = known.readPrepared(pipe, statements[i].sql, preparing[statements[i].sql])
		}
		if err == nil {
			err = readRows(pipe, statements[i].eachRow, &unheard)
		}
		if err == nil && statements[i].afterRows != nil {
			statements[i].afterRows()
		}
		if statements[i].onConflict != nil && isRetryable(err) {
			err = statements[i].onConflict
		}
	}
	if closed := pipe.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = unheard
	}
	return err
}

// sendOne sends one statement, and before it what it is if that is not known yet.
func (s *session) sendOne(pipe *pgconn.Pipeline, a *statement, known *prepared, preparing map[string]string) (prepares bool) {
	values, oids := make([][]byte, len(a.params)), make([]uint32, len(a.params))
	for i, p := range a.params {
		values[i], oids[i] = p.data, p.oid
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

// readPrepared hears that a statement was prepared.
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

// binaryFormat is that of every parameter and of every column of a result.
var binaryFormat = []int16{1}

// readRows hears all rows, whatever becomes of one: what follows them in the
// pipeline must be heard too.
func readRows(pipe *pgconn.Pipeline, each func(row) error, unheard *error) error {
	results, err := pipe.GetResults()
	if err != nil {
		return err
	}
	reader, ok := results.(*pgconn.ResultReader)
	if !ok {
		return errPipeline
	}
	for reader.NextRow() {
		if each != nil && *unheard == nil {
			*unheard = each(reader.Values())
		}
	}
	_, err = reader.Close()
	return err
}

var errPipeline = errors.New("what PostgreSQL answered is not what it was asked")
