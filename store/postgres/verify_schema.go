package postgres

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// sqlSchema lists the objects of the schema with kind and name, whether each is in force, and the
// body of a function.
const sqlSchema = `
SELECT CASE c.relkind WHEN 'v' THEN 'view ' ELSE 'table ' END || c.relname, true, NULL
FROM pg_class c
WHERE c.relnamespace = to_regnamespace($1) AND c.relkind IN ('r', 'v')
UNION ALL
SELECT 'index ' || c.relname, i.indisvalid AND i.indisready, NULL
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relnamespace = to_regnamespace($1)
UNION ALL
SELECT 'constraint ' || o.conname, o.convalidated, NULL
FROM pg_constraint o
WHERE o.connamespace = to_regnamespace($1) AND o.contype IN ('c', 'f')
UNION ALL
SELECT 'trigger ' || t.tgname, t.tgenabled IN ('O', 'A'), NULL
FROM pg_trigger t
JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = to_regnamespace($1) AND NOT t.tgisinternal
UNION ALL
SELECT 'function ' || p.proname, true, p.prosrc
FROM pg_proc p
WHERE p.pronamespace = to_regnamespace($1)`

// CheckDatabase compares the objects of the schema with those of a new store.
func (v verified) CheckDatabase(report func(rota.Violation)) error {
	want, err := schemaOfMigrations()
	if err != nil {
		return err
	}
	is := map[string]string{} // problem of each object; "" if it has none
	err = v.Each(sqlSchema, func(r storekit.Row) error {
		name := r.Text(0)
		body, isFunction := want.bodies[name]
		switch {
		case !r.Bool(1):
			is[name] = "it is disabled or not valid"
		case isFunction && r.Text(2) != v.dialect.qualify(body):
			is[name] = "it differs from what this version creates"
		default:
			is[name] = ""
		}
		return nil
	}, v.dialect.schema)
	if err != nil {
		return err
	}
	for _, name := range want.names {
		detail, there := is[name]
		if !there {
			detail = "it is missing"
		}
		if detail != "" {
			report(rota.Violation{Check: rota.CheckSchema, Rows: []string{name}, Detail: detail})
		}
	}
	return nil
}

// expectedSchema lists the objects that the migrations create, by kind and name, in order.
type expectedSchema struct {
	names  []string
	bodies map[string]string // bodies of functions
}

// schemaOfMigrations returns the objects of a new store. It parses the migrations, because
// PostgreSQL would have to create a store to list them.
var schemaOfMigrations = sync.OnceValues(func() (*expectedSchema, error) {
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	schema := &expectedSchema{bodies: map[string]string{}}
	schema.read(sqlMetaTable)
	for _, step := range steps {
		script, err := migrations.ReadFile(step)
		if err != nil {
			return nil, err
		}
		schema.read(string(script))
	}
	return schema, nil
})

var (
	sqlComment = regexp.MustCompile(`--[^\n]*`)
	// A table ends with the first line that begins with a parenthesis, a function body with the
	// second $$.
	createdObject = regexp.MustCompile(`(?s)CREATE TABLE (?:IF NOT EXISTS )?rota_(\w+) \((.*?)\n\)` +
		`|CREATE (?:OR REPLACE )?FUNCTION rota_(\w+)\(.*?\$\$(.*?)\$\$` +
		`|CREATE (?:OR REPLACE )?VIEW rota_(\w+)` +
		`|CREATE (?:UNIQUE )?INDEX (\w+)` +
		`|CREATE (?:CONSTRAINT )?TRIGGER (\w+)` +
		`|ADD (CONSTRAINT \w+ CHECK)` +
		`|DROP (\w+) (?:IF EXISTS )?(?:rota_)?(\w+)`)
	namedCheck = regexp.MustCompile(`CONSTRAINT (\w+) CHECK`)
	// Objects that PostgreSQL names itself: primary keys, and constraints of one column.
	primaryKey        = regexp.MustCompile(`PRIMARY KEY`)
	uniqueColumn      = regexp.MustCompile(`(?m)^\s+(\w+) .*\bUNIQUE\b`)
	referencingColumn = regexp.MustCompile(`(?m)^\s+(\w+) .*\bREFERENCES\b`)
)

// read adds the objects that a script creates and removes those that it drops.
func (m *expectedSchema) read(script string) {
	for _, found := range createdObject.FindAllStringSubmatch(script, -1) {
		table, columns, function, body := found[1], found[2], found[3], found[4]
		view, index, trigger, check, kind, dropped := found[5], found[6], found[7], found[8], found[9], found[10]
		switch {
		case table != "":
			m.table(table, sqlComment.ReplaceAllString(columns, ""))
		case function != "":
			m.add("function " + function)
			m.bodies["function "+function] = body
		case view != "":
			m.add("view " + view)
		case index != "":
			m.add("index " + index)
		case trigger != "":
			m.add("trigger " + trigger)
		case check != "":
			m.checks(check)
		case kind != "":
			m.drop(strings.ToLower(kind) + " " + dropped)
			if kind == "CONSTRAINT" {
				m.drop("index " + dropped) // of a unique constraint
			}
		}
	}
}

func (m *expectedSchema) table(name, columns string) {
	m.add("table " + name)
	m.checks(columns)
	if primaryKey.MatchString(columns) {
		m.add("index " + name + "_pkey")
	}
	for _, c := range uniqueColumn.FindAllStringSubmatch(columns, -1) {
		m.add("index " + name + "_" + c[1] + "_key")
	}
	for _, c := range referencingColumn.FindAllStringSubmatch(columns, -1) {
		m.add("constraint " + name + "_" + c[1] + "_fkey")
	}
}

func (m *expectedSchema) checks(sql string) {
	for _, c := range namedCheck.FindAllStringSubmatch(sql, -1) {
		m.add("constraint " + c[1])
	}
}

func (m *expectedSchema) add(name string) {
	m.drop(name) // it is replaced
	m.names = append(m.names, name)
}

func (m *expectedSchema) drop(name string) {
	m.names = slices.DeleteFunc(m.names, func(one string) bool { return one == name })
	delete(m.bodies, name)
}
