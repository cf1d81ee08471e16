package pgwire

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/sql/kind"
)

// Every kind has a binary format, or an error: also for values that are empty or invalid. The
// output that is already in the buffer stays.
func TestEveryKindEncodesBinary(t *testing.T) {
	for k := range coders {
		for _, held := range []any{"", "a", "1", "[]", `["a"]`, `[""]`, `[1]`, `[null]`, int64(1), 1.5} {
			raw, err := coderOf(k).binary([]byte("before"), held, &formatSettings{zoneName: "UTC"})
			if len(raw) < 6 || string(raw[:6]) != "before" {
				t.Errorf("%s %v: the buffer is lost: %q, %v", k, held, raw, err)
			}
		}
		switch k {
		case kind.Record.Array(), kind.Int2s.Array(), kind.OIDs.Array():
			continue
		}
		if k.Elem() == kind.Unknown {
			continue
		}
		raw, err := coderOf(k).binary(nil, "[]", &formatSettings{})
		if elem := k.Elem().OID(); err != nil || len(raw) < 12 || binary.BigEndian.Uint32(raw[8:]) != elem {
			t.Errorf("an empty %s: %x, %v; want elements of OID %d", k, raw, err, elem)
		}
	}
	for _, test := range []struct {
		kind kind.Kind
		held any
		code string
	}{
		{kind.Inet, "", stateData},
		{kind.Record, `{"a":1}`, stateNotSupported},
		{kind.Record.Array(), `["(1)"]`, stateNotSupported},
		{kind.Int2s.Array(), `["1 2"]`, stateNotSupported},
	} {
		if raw, err := coderOf(test.kind).binary(nil, test.held, &formatSettings{}); stateOf(err) != test.code {
			t.Errorf("%s %q: %x, %v", test.kind, test.held, raw, err)
		}
	}
}

// The drivers ask for the binary format of every column. The relations of the catalogue have the
// kinds that no other answer has.
func TestCatalogueInBinary(t *testing.T) {
	s, _ := newConsoleServer(t)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.url(""))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "SELECT n.nspname || '.' || c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v')")
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) < 50 {
		t.Fatalf("%d relations, %v", len(names), err)
	}
	for _, query := range []string{`ARRAY['a'::"char", '', NULL]`, `'{a,b}'::"char"[]`, `(SELECT relacl FROM pg_catalog.pg_class LIMIT 1)`} {
		names = append(names, "(SELECT "+query+") x")
	}
	for _, name := range names {
		result := conn.PgConn().ExecParams(ctx, "SELECT * FROM "+name, nil, nil, nil, []int16{pgproto3.BinaryFormat}).Read()
		if result.Err != nil {
			t.Errorf("%s: %v", name, result.Err)
		}
		if conn.PgConn().IsClosed() {
			t.Fatalf("%s ended the connection", name)
		}
	}
	for _, param := range []any{[]string{"a", ""}, []byte("{b}")} {
		var got []string
		if err := conn.QueryRow(ctx, `SELECT $1::"char"[]::text[]`, param).Scan(&got); err != nil || len(got) == 0 {
			t.Errorf("%v: %v, %v", param, got, err)
		}
	}
}

// An encoder that panics ends the connection, with a message that the client can read.
func TestPanicDropsIncompleteRow(t *testing.T) {
	o := bufferedWriter{}
	o.send(&pgproto3.BindComplete{})
	before := len(o.buf)
	number := column{settings: &formatSettings{}, encode: coderOf(kind.Text).text}
	broken := column{settings: &formatSettings{}, encode: func([]byte, any, *formatSettings) ([]byte, error) { panic("requested by the test") }}
	func() {
		defer func() { _ = recover() }()
		_ = o.row([]any{"a", "b"}, []column{number, broken})
	}()
	if len(o.buf) != before {
		t.Errorf("the buffer contains an incomplete row: %q", o.buf)
	}
}
