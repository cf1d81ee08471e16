package translate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
	"github.com/rotajobs/rota/sql/translate"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// postgres is a PostgreSQL with the same rows.
func postgres(t testing.TB) *pgconn.PgConn {
	t.Helper()
	cluster := pgtest.Shared(t)
	url := cluster.URL(cluster.NewDatabase(t, ""))
	conn, err := pgconn.Connect(context.Background(), url)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	var sql strings.Builder
	sql.WriteString("SET TIME ZONE 'UTC'; CREATE SCHEMA sys; SET search_path = sys, public; CREATE FUNCTION sys.twice(int) RETURNS int LANGUAGE sql AS 'SELECT $1 * 2';")
	for _, table := range tables {
		columns := make([]string, len(table.Columns))
		for i, c := range table.Columns {
			columns[i] = c.Name + " " + string(c.Kind)
		}
		fmt.Fprintf(&sql, "CREATE TABLE sys.%s (%s);", table.Name, strings.Join(columns, ", "))
		for _, row := range rows[table.Name] {
			cells := make([]string, len(row))
			for i, text := range row {
				cells[i] = "'" + strings.ReplaceAll(text, "'", "''") + "'"
				if text == null {
					cells[i] = "NULL"
				}
			}
			fmt.Fprintf(&sql, "INSERT INTO sys.%s VALUES (%s);", table.Name, strings.Join(cells, ", "))
		}
	}
	_, err = conn.Exec(context.Background(), sql.String()).ReadAll()
	must(t, err)
	return conn
}

// sample is a query with its arguments, as the files of testdata have them: one to a
// line, arguments behind --.
type sample struct {
	text string
	args []string
	line int
}

func samples(t testing.TB, file string) (all []sample) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	must(t, err)
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		sql, rest, with := strings.Cut(line, " -- ")
		s := sample{text: sql, line: i + 1}
		if with {
			s.args = strings.Split(rest, " | ")
		}
		all = append(all, s)
	}
	return all
}

// Both servers return the same rows for the sample queries.
func TestSamplesMatchPostgres(t *testing.T) {
	d, conn := openTestDB(t), postgres(t)
	for _, s := range samples(t, "same.sql") {
		t.Run(strconv.Itoa(s.line), func(t *testing.T) { compareSample(t, d, conn, s) })
	}
}

func compareSample(t *testing.T, d *testDB, conn *pgconn.PgConn, s sample) {
	t.Helper()
	statement, got, err := d.query(s.text, s.args)
	ctx := context.Background()
	prepared, pgErr := conn.Prepare(ctx, "", s.text, nil)
	if pgErr != nil {
		t.Fatalf("%s\n\tPostgreSQL: %v", s.text, pgErr)
	}
	if err != nil {
		t.Fatalf("%s\n\t%v", s.text, err)
	}
	for i, oid := range prepared.ParamOIDs {
		if k := statement.Params[i]; k.OID() != oid {
			t.Errorf("%s\n\t$%d is %s, want %s", s.text, i+1, k, kindOf(oid))
		}
	}
	values := make([][]byte, len(s.args))
	for i, a := range s.args {
		values[i] = []byte(a)
	}
	result := conn.ExecPrepared(ctx, "", values, nil, nil).Read()
	if result.Err != nil {
		t.Fatalf("%s\n\tPostgreSQL: %v", s.text, result.Err)
	}
	for i, f := range result.FieldDescriptions {
		if i >= len(statement.Columns) {
			t.Fatalf("%s\n\t%d columns, want %d", s.text, len(statement.Columns), len(result.FieldDescriptions))
		}
		c := statement.Columns[i]
		if c.Name != f.Name || c.Kind.OID() != f.DataTypeOID {
			t.Errorf("%s\n\tcolumn %d is %s %s, want %s %s", s.text, i+1, c.Name, c.Kind, f.Name, kindOf(f.DataTypeOID))
		}
	}
	want := make([][]*string, len(result.Rows))
	for r, row := range result.Rows {
		for _, cell := range row {
			if cell == nil {
				want[r] = append(want[r], nil)
				continue
			}
			text := string(cell)
			want[r] = append(want[r], &text)
		}
	}
	a, b := lines(got, statement.Columns), lines(want, statement.Columns)
	if !strings.Contains(s.text, "ORDER BY") {
		sort.Strings(a)
		sort.Strings(b)
	}
	if strings.Join(a, "\n") != strings.Join(b, "\n") {
		t.Errorf("%s\n\t%s\n\tgot  %s\n\twant %s", s.text, statement.Text, strings.Join(a, "\n\t     "), strings.Join(b, "\n\t     "))
	}
}

func kindOf(oid uint32) string {
	if k, known := kind.OfOID(oid); known {
		return string(k)
	}
	return strconv.Itoa(int(oid))
}

// lines are rows as texts that can be compared: numbers by what they are worth,
// documents whatever their blanks.
func lines(rows [][]*string, columns []translate.Column) []string {
	out := make([]string, len(rows))
	for r, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = "NULL"
			if cell != nil {
				cells[i] = canonical(*cell, columns[i].Kind)
			}
		}
		out[r] = strings.Join(cells, " | ")
	}
	return out
}

func canonical(text string, k kind.Kind) string {
	switch k {
	case kind.Numeric, kind.Float, kind.Float4:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return strconv.FormatFloat(f+0, 'g', 12, 64) // -0 is 0
		}
	case kind.JSON, kind.PlainJSON:
		var v any
		if json.Unmarshal([]byte(text), &v) == nil {
			b, _ := json.Marshal(rounded(v))
			return string(b)
		}
	}
	return text
}

// rounded is a document whose numbers have as many digits as are compared.
func rounded(v any) any {
	switch v := v.(type) {
	case float64:
		return json.RawMessage(strconv.FormatFloat(v, 'g', 12, 64))
	case []any:
		for i := range v {
			v[i] = rounded(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = rounded(v[k])
		}
	}
	return v
}

// Both servers return the same SQLSTATE for invalid queries. A state in brackets at the start
// of a line is the different state of PostgreSQL.
func TestErrorStatesMatchPostgres(t *testing.T) {
	d, conn := openTestDB(t), postgres(t)
	for _, s := range samples(t, "wrong.sql") {
		t.Run(strconv.Itoa(s.line), func(t *testing.T) {
			ours := ""
			if s.text[0] == '[' {
				ours, s.text = s.text[1:6], strings.TrimSpace(s.text[7:])
			}
			_, _, err := d.query(s.text, s.args)
			if err == nil {
				t.Fatalf("%s\n\tit has an answer", s.text)
			}
			e, is := errors.AsType[*translate.Error](err)
			if !is {
				if p, is := errors.AsType[*query.Error](err); is {
					e = &translate.Error{State: p.State, Message: p.Message, Offset: p.Offset}
				} else {
					t.Fatalf("%s\n\t%T: %v", s.text, err, err)
				}
			}
			_, pgErr := conn.Exec(context.Background(), s.text).ReadAll()
			p, _ := errors.AsType[*pgconn.PgError](pgErr)
			switch {
			case ours != "":
				if e.State != ours {
					t.Errorf("%s\n\t%s %v, want %s", s.text, e.State, e, ours)
				}
			case p == nil:
				t.Errorf("%s\n\tPostgreSQL has an answer; we: %s %v", s.text, e.State, e)
			case p.Code != e.State:
				t.Errorf("%s\n\t%s %v\n\twant %s %s", s.text, e.State, e, p.Code, p.Message)
			}
			if testing.Verbose() {
				t.Logf("%s\n\t%s@%d %v", s.text, e.State, e.Offset, e)
			}
		})
	}
}
