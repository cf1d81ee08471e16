package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
	"github.com/rotajobs/rota/sql/translate"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// subject is what the tests describe: tables like ours, and one that is unlike them.
var subject = Subject{
	Tables: []translate.Table{
		{Schema: "sys", Name: "jobs", Columns: []translate.Column{
			{Name: "job_uuid", Kind: kind.UUID},
			{Name: "job_name", Kind: kind.Text},
			{Name: "priority", Kind: kind.Integer},
			{Name: "next_at", Kind: kind.Integer},
			{Name: "next_at_ts", Kind: kind.Timestamp},
			{Name: "params", Kind: kind.JSON},
		}},
		{Schema: "sys", Name: "job_dependencies", Columns: []translate.Column{
			{Name: "job_uuid", Kind: kind.UUID}, {Name: "depends_on_job_uuid", Kind: kind.UUID}, {Name: "job_name", Kind: kind.Text},
		}},
		{Schema: "sys", Name: "nodes", Columns: []translate.Column{{Name: "node_name", Kind: kind.Text}, {Name: "is_leader", Kind: kind.Boolean}}},
		{Schema: "sys", Name: "performance", Columns: []translate.Column{{Name: "metric", Kind: kind.Text}, {Name: "value", Kind: kind.Float}}},
		{Schema: "sys", Name: "Odd One", Columns: []translate.Column{{Name: "select", Kind: kind.Int4}, {Name: "Ünd\"", Kind: kind.Text.Array()}}},
	},
	NotNull: func(table, column string) bool { return column == "job_name" || column == "metric" },
	Key: func(table string) []string {
		if table == "Odd One" {
			return []string{"select"}
		}
		return Key(table)
	},
	Comment: func(table, column string) string {
		if table == "jobs" {
			return strings.TrimSpace("jobs are " + column)
		}
		return ""
	},
	Owner: "postgres", Database: "rota",
}

var env = &Env{User: "postgres", Database: "rota", PID: 7, SearchPath: []string{"$user", "public"}}

// newDatabase creates an empty database in a real PostgreSQL and returns its URL.
func newDatabase(t *testing.T) string {
	t.Helper()
	server := pgtest.Shared(t)
	url := server.URL(server.NewDatabase(t, ""))
	if got := pgtest.Query(t, url, "SHOW server_version_num")[0][0]; !strings.HasPrefix(got, "15") {
		t.Skipf("the catalogue is that of PostgreSQL 15; this server is %s", got)
	}
	return url
}

// createTables makes the same tables in a real PostgreSQL, and is its URL.
func createTables(t *testing.T) string {
	t.Helper()
	url := newDatabase(t)
	var sql strings.Builder
	sql.WriteString("CREATE SCHEMA sys;")
	for _, table := range subject.Tables {
		sql.WriteString(create(table))
	}
	pgtest.Query(t, url, sql.String())
	return url
}

func create(table translate.Table) string {
	name := table.Schema + "." + query.QuoteIdent(table.Name)
	var lines []string
	for _, c := range table.Columns {
		line := query.QuoteIdent(c.Name) + " " + string(c.Kind)
		if subject.NotNull(table.Name, c.Name) {
			line += " NOT NULL"
		}
		lines = append(lines, line)
	}
	if key := subject.Key(table.Name); len(key) > 0 {
		for i := range key {
			key = append([]string(nil), key...)
			key[i] = query.QuoteIdent(key[i])
		}
		lines = append(lines, "PRIMARY KEY ("+strings.Join(key, ", ")+")")
	}
	sql := fmt.Sprintf("CREATE TABLE %s (%s);", name, strings.Join(lines, ", "))
	if text := subject.Comment(table.Name, ""); text != "" {
		sql += fmt.Sprintf("COMMENT ON TABLE %s IS '%s';", name, text)
	}
	for _, c := range table.Columns {
		if text := subject.Comment(table.Name, c.Name); text != "" {
			sql += fmt.Sprintf("COMMENT ON COLUMN %s.%s IS '%s';", name, query.QuoteIdent(c.Name), text)
		}
	}
	return sql
}

// relationOf finds a relation of the catalogue.
func relationOf(t *testing.T, c *Catalog, name string) Relation {
	t.Helper()
	for _, r := range c.Relations() {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("there is no %s", name)
	return Relation{}
}

// formatValue is a value as PostgreSQL writes it.
func formatValue(k kind.Kind, v any) string {
	text := textOf(v)
	switch {
	case v == nil:
		return ""
	case k == kind.Boolean:
		return map[int64]string{0: "f", 1: "t"}[v.(int64)]
	case k == kind.Int2s || k == kind.OIDs:
		return strings.ReplaceAll(strings.Trim(text, "[]"), ",", " ")
	case k.Elem() != "":
		return "{" + quotedUnlessBlank(strings.Trim(text, "[]")) + "}"
	}
	return text
}

// quotedUnlessBlank takes the quotes from items that have no blank in them.
func quotedUnlessBlank(items string) string {
	list := strings.Split(items, ",")
	for i, item := range list {
		if !strings.Contains(item, " ") {
			list[i] = strings.Trim(item, `"`)
		}
	}
	return strings.Join(list, ",")
}

// pick is some columns of all rows, as PostgreSQL writes them, by the first of them.
func (r Relation) pick(t *testing.T, columns ...string) map[string][]string {
	t.Helper()
	at := make([]int, len(columns))
	for i, name := range columns {
		at[i] = -1
		for j, c := range r.Columns {
			if c.Name == name {
				at[i] = j
			}
		}
		if at[i] < 0 {
			t.Fatalf("%s has no column %s", r.Name, name)
		}
	}
	all := map[string][]string{}
	for _, row := range r.Rows {
		values := make([]string, len(at))
		for i, j := range at {
			values[i] = formatValue(r.Columns[j].Kind, row[j])
		}
		all[values[0]] = values
	}
	return all
}
