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
	conn *pgconn.PgConn
	text *dialect
}

// dialect is how statements are written to this store: with its schema, and
// under names where the connection is a backend of its own. Behind a pooler that
// lends backends for one transaction nothing may be left in them.
type dialect struct {
	schema string // quoted
	named  bool
}

// The SQL of this package names tables and functions as they are called in the
// embedded store, so that both can be read side by side; each is qualified with
// the schema before it is sent.
func (d *dialect) qualify(sql string) string { return strings.ReplaceAll(sql, "rota_", d.schema+".") }

// ask is one statement, what it is given, and who hears its rows.
type ask struct {
	sql    string
	params []param
	each   func(row) error // nil: nobody
	end    func()          // called when all rows were heard; nil: nobody is

	refused error // what it means that something has moved; nil: that
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
func (s *session) send(ctx context.Context, asks ...ask) error {
	if len(asks) == 0 {
		return nil
	}
	known := s.prepared()
	pipe := s.conn.StartPipeline(ctx)
	fresh := make([]bool, len(asks)) // those whose preparing goes before them
	coming := map[string]string{}
	for i := range asks {
		fresh[i] = s.put(pipe, &asks[i], known, coming)
	}
	var unheard error // of one who hears
	err := pipe.Sync()
	for i := 0; err == nil && i < len(asks); i++ {
		if fresh[i] {
			err = known.hear(pipe, asks[i].sql, coming[asks[i].sql])
		}
		if err == nil {
			err = hearRows(pipe, asks[i].each, &unheard)
		}
		if err == nil && asks[i].end != nil {
			asks[i].end()
		}
		if asks[i].refused != nil && isMoved(err) {
			err = asks[i].refused
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

// put sends one statement, and before it what it is if that is not known yet.
func (s *session) put(pipe *pgconn.Pipeline, a *ask, known *prepared, coming map[string]string) (fresh bool) {
	values, oids := make([][]byte, len(a.params)), make([]uint32, len(a.params))
	for i, p := range a.params {
		values[i], oids[i] = p.data, p.oid
	}
	if !s.text.named {
		text, ok := known.texts[a.sql]
		if !ok {
			text = s.text.qualify(a.sql)
			known.texts[a.sql] = text
		}
		pipe.SendQueryParams(text, values, oids, binaryFormat, binaryFormat)
		return false
	}
	if known := known.statements[a.sql]; known != nil {
		pipe.SendQueryStatement(known, values, binaryFormat, binaryFormat)
		return false
	}
	name, ok := coming[a.sql]
	if !ok {
		name, fresh = "rota"+strconv.Itoa(len(known.statements)+len(coming)+1), true
		coming[a.sql] = name
		pipe.SendPrepare(name, s.text.qualify(a.sql), oids)
	}
	pipe.SendQueryPrepared(name, values, binaryFormat, binaryFormat)
	return fresh
}

// hear hears that a statement was prepared.
func (p *prepared) hear(pipe *pgconn.Pipeline, sql, name string) error {
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

// hearRows hears all rows, whatever becomes of one: what follows them in the
// pipeline must be heard too.
func hearRows(pipe *pgconn.Pipeline, each func(row) error, unheard *error) error {
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
