package pgcatalog

import (
	"github.com/rotajobs/rota/console/dialect"
	"github.com/rotajobs/rota/console/kind"
)

// Subject is what a catalogue describes.
type Subject struct {
	Tables  []dialect.Table
	NotNull func(table, column string) bool   // nil: only what is of a key
	Key     func(table string) []string       // the columns that tell rows apart; nil: Key
	Comment func(table, column string) string // without a column: of the table; nil: there are none

	Version  string // what server_version says, such as "15.0 (Rota 1.4.0)"
	Database string
	Owner    string // the role that everything belongs to
}

func (s Subject) withDefaults() Subject {
	if s.NotNull == nil {
		s.NotNull = func(string, string) bool { return false }
	}
	if s.Key == nil {
		s.Key = Key
	}
	if s.Comment == nil {
		s.Comment = func(string, string) string { return "" }
	}
	if s.Version == "" {
		s.Version = "15.0"
	}
	if s.Database == "" {
		s.Database = "rota"
	}
	if s.Owner == "" {
		s.Owner = "admin"
	}
	return s
}

// Key is the key of a table of the schema sys, empty if its rows have none: those of
// performance and audit can have NULL where one would be.
func Key(table string) []string { return keys[table] }

var keys = map[string][]string{
	"jobs": {"job_uuid"}, "job_runs": {"job_run_uuid"}, "job_dependencies": {"job_uuid", "depends_on_job_uuid"},
	"executions": {"id"}, "templates": {"template_name"}, "schedules": {"schedule_name"}, "groups": {"group_uuid"},
	"reservations": {"reservation_uuid"}, "nodes": {"node_name"},
}

// Relation is a table of the catalogue and its rows. Nobody may change them: all who
// load it share them.
type Relation struct {
	Schema, Name string
	OID          int64 // of the relation, which is also the tableoid of its rows
	Columns      []dialect.Column
	Rows         [][]any  // of int64, float64, string, []byte and nil; booleans are 0 and 1
	Index        []string // the columns that are worth an index
}

// Relations is the catalogue of a subject, all of it.
func Relations(s Subject) []Relation { return New(s).Relations() }

// Catalog is the catalogue of a subject, and the ways to find something in it.
type Catalog struct {
	subject   Subject
	relations []Relation

	spaces    map[string]int64
	spaceName map[int64]string
	classes   []*class
	class     map[[2]string]*class // by schema and name
	classOf   map[int64]*class
	comments  map[comment]string
	settings  map[string]string // by the name in small letters
}

// comment is what a comment is about: an object of one of the tables of the
// catalogue, and of a column its number.
type comment struct{ of, table, column int64 }

// New makes the catalogue of a subject.
func New(s Subject) *Catalog {
	c := &Catalog{
		subject: s.withDefaults(), spaces: map[string]int64{}, spaceName: map[int64]string{},
		class: map[[2]string]*class{}, classOf: map[int64]*class{}, comments: map[comment]string{}, settings: map[string]string{},
	}
	c.nameSpaces()
	c.nameClasses()
	b := newBuilder(c)
	for _, part := range parts {
		part(b)
	}
	c.relations = b.relations()
	return c
}

// Relations are the tables. They are the catalogue's own.
func (c *Catalog) Relations() []Relation { return c.relations }

// OID is the number of a table, 0 if there is none of that name.
func (c *Catalog) OID(schema, table string) int64 {
	if of := c.class[[2]string{schema, table}]; of != nil {
		return of.oid
	}
	return 0
}

// parts fill the tables, each some of them.
var parts = []func(*builder){
	(*builder).schemas, (*builder).relationRows, (*builder).indexRows, (*builder).counts, (*builder).types, (*builder).functions,
	(*builder).operators, (*builder).roles, (*builder).databases, (*builder).methods, (*builder).settingRows, (*builder).zones,
	(*builder).standardNames, (*builder).standardTables, (*builder).standardColumns, (*builder).standardKeys,
	(*builder).standardPrivileges, (*builder).standardRoutines, (*builder).remarks,
}

// kindOf is the kind by which values of one of PostgreSQL's types are held here.
func kindOf(name string) kind.Kind {
	if k, known := kind.Named(name); known {
		return k
	}
	if k, known := held[name]; known {
		return k
	}
	if n := len(name) - len("[]"); n > 0 && name[n:] == "[]" {
		return kindOf(name[:n]).Array()
	}
	panic("pgcatalog: no kind for the type " + name)
}

// held are the types that are no kinds.
var held = map[string]kind.Kind{
	"sql_identifier": kind.Name, "cardinal_number": kind.Int4, "character_data": kind.Varchar, "yes_or_no": kind.Varchar, "time_stamp": kind.Timestamp,
	"pg_lsn": kind.Text, "pg_ndistinct": kind.Text, "pg_dependencies": kind.Text, "pg_mcv_list": kind.Text, "pg_statistic[]": kind.Text,
}
