package catalog

import "github.com/rotajobs/rota/sql/translate"

// Subject is the database that a catalogue describes.
type Subject struct {
	Tables  []translate.Table
	NotNull func(table, column string) bool   // nil: only columns of a key
	Key     func(table string) []string       // the columns of the primary key; nil: Key
	Comment func(table, column string) string // an empty column means the table; nil: no comments

	Version  string // server_version, such as "15.0 (Rota 1.4.0)"
	Database string
	Owner    string // role that owns all objects
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

// Key returns the primary key columns of a table of the schema sys. It is empty for performance
// and audit, whose rows can have NULL in each candidate column.
func Key(table string) []string { return keys[table] }

var keys = map[string][]string{
	"jobs": {"job_uuid"}, "job_runs": {"job_run_uuid"}, "job_dependencies": {"job_uuid", "depends_on_job_uuid"},
	"executions": {"id"}, "templates": {"template_name"}, "schedules": {"schedule_name"}, "groups": {"group_uuid"},
	"reservations": {"reservation_uuid"}, "nodes": {"node_name"},
	"users": {"name"}, "roles": {"name"}, "role_members": {"role", "member"}, "tokens": {"id"},
}

// Relation is a table of the catalogue with its rows. All callers share the rows and must not
// change them.
type Relation struct {
	Schema, Name string
	OID          int64 // of the relation, which is also the tableoid of its rows
	Columns      []translate.Column
	Rows         [][]any  // of int64, float64, string, []byte and nil; booleans are 0 and 1
	Index        []string // columns to index
	OfRoles      bool     // RoleRows returns its rows, which change
}

// Relations returns the complete catalogue of a subject.
func Relations(s Subject) []Relation { return New(s).Relations() }

// Catalog is the catalogue of a subject, with indexes for lookups.
type Catalog struct {
	subject   Subject
	relations []Relation

	schemaOID   map[string]int64
	schemaName  map[int64]string
	classes     []*class
	classByName map[[2]string]*class // by schema and name
	classByOID  map[int64]*class
	comments    map[commentKey]string
	settings    map[string]string // by the name in small letters
}

// commentKey identifies the object of a comment: the OID, the catalogue table, and for columns
// the number.
type commentKey struct{ of, table, column int64 }

// New creates the catalogue of a subject.
func New(s Subject) *Catalog {
	c := &Catalog{
		subject: s.withDefaults(), schemaOID: map[string]int64{}, schemaName: map[int64]string{},
		classByName: map[[2]string]*class{}, classByOID: map[int64]*class{}, comments: map[commentKey]string{}, settings: map[string]string{},
	}
	c.addSchemas()
	c.addClasses()
	b := newBuilder(c)
	for _, part := range parts {
		part(b)
	}
	c.relations = b.relations()
	return c
}

// Relations returns the tables. The caller must not change them.
func (c *Catalog) Relations() []Relation { return c.relations }

// OID returns the OID of a table, or 0.
func (c *Catalog) OID(schema, table string) int64 {
	if of := c.classByName[[2]string{schema, table}]; of != nil {
		return of.oid
	}
	return 0
}

// parts are the functions that fill the relations.
var parts = []func(*builder){
	(*builder).schemas, (*builder).relationRows, (*builder).indexRows, (*builder).statistics, (*builder).builtins, (*builder).ownFunctions, (*builder).roles,
	(*builder).databases, (*builder).extensions, (*builder).settingRows, (*builder).zones, (*builder).standardTables,
	(*builder).standardColumns, (*builder).standardKeys, (*builder).standardPrivileges, (*builder).commentRows,
}
