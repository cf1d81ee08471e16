package storekit

import (
	"slices"
	"strings"

	"github.com/rotajobs/rota"
)

// RowTables are the tables that a copy of a store takes, in an order in which a row follows the
// rows that it refers to. TestCopyTakesEveryTable of each store compares them with its database.
var RowTables = []*RowTable{
	rowTable(Types, RowTable{}),
	rowTable(Templates, RowTable{}),
	rowTable(Schedules, RowTable{}),
	{Name: "rota_edges", Keys: 2, Columns: []RowColumn{{"schedule", Text}, {"depends_on", Text}}},
	{Name: "rota_definitions", Keys: 1, Columns: []RowColumn{{"id", ID}, {"name", Text}}},
	rowTable(Dropped, RowTable{}),
	rowTable(Throttle, RowTable{}),
	rowTable(Webhooks, RowTable{}),
	rowTable(Principals, RowTable{}),
	rowTable(AccessTokens, RowTable{}),
	rowTable(AccessState, RowTable{}),
	rowTable(SecretKeys, RowTable{}), // before the first secret
	rowTable(Secrets, RowTable{}),
	rowTable(Buckets, RowTable{}),
	rowTable(Intents, RowTable{}),
	rowTable(Requests, RowTable{}),
	rowTable(Groups, RowTable{WaitingIDs: sqlWaitingGroups}),
	rowTableOf("rota_jobs", jobColumns, 1, RowTable{WaitingIDs: sqlWaitingJobIDs}),
	rowTable(UniqueKeys, RowTable{}),
	rowTable(Reservations, RowTable{Waiting: "status = 'ACTIVE'"}),
	rowTable(Audit, RowTable{Waiting: "at >= (SELECT min(r.at) FROM rota_requests r)"}),
	{Name: "rota_audit_seals", Keys: 1, Columns: []RowColumn{{"seq", Int}, {"first", Int}, {"ids", Bytes}, {"hashes", Bytes}}, Waiting: none},
	{Name: "rota_audit_unsealed", Keys: 1, Columns: []RowColumn{{"n", Int}, {"at", Int}, {"ids", Bytes}}, Waiting: none},
	{Name: "rota_audit_anchor", Keys: 1, Columns: []RowColumn{
		{"id", Small}, {"seq", Int}, {"hash", Bytes}, {"removed_before", Int}, {"key", Bytes}, {"signature", Bytes},
	}, Waiting: none, Preset: true},
}

// none is the condition of a table whose rows belong to all of the history. A copy without history begins
// a new chain of the audit.
const none = "1 = 0"

// OnlyHistory reports whether a copy without history takes none of the rows.
func (t *RowTable) OnlyHistory() bool { return t.Waiting == none }

// rowTable returns a table with all its columns, the key first.
func rowTable[T any](t *Table[T], row RowTable) *RowTable {
	others := slices.DeleteFunc(pointersTo(t.columns), func(c *Column[T]) bool { return c.key })
	return rowTableOf(t.Name, slices.Concat(t.keys, others), len(t.keys), row)
}

func rowTableOf[T any](name string, columns []*Column[T], keys int, row RowTable) *RowTable {
	row.Name, row.Keys = name, keys
	for _, c := range columns {
		row.Columns = append(row.Columns, RowColumn{c.Name, c.Kind})
	}
	return &row
}

// IsJobs reports whether the rows are jobs.
func (t *RowTable) IsJobs() bool { return t.Name == "rota_jobs" }

// Names returns the names of the columns.
func (t *RowTable) Names() []string { return t.names("") }

func (t *RowTable) names(prefix string) []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = prefix + c.Name
	}
	return names
}

// Select returns the beginning of a query of all columns. Its table is called j.
func (t *RowTable) Select() string {
	return "\nSELECT " + strings.Join(t.names("j."), ", ") + "\nFROM " + t.Name + " j"
}

// Page returns the query of the rows after a key, in the order of the key, and its arguments. A nil
// key is before the first row. waiting leaves out history.
func (t *RowTable) Page(after []byte, waiting bool, limit int) (sql string, args []any, err error) {
	keys := make([]string, t.Keys)
	for i, c := range t.Columns[:t.Keys] {
		keys[i] = "j." + c.Name
	}
	var conditions []string
	if after != nil {
		if args, err = t.KeyArgs(after); err != nil {
			return "", nil, err
		}
		places := make([]string, t.Keys)
		for i := range places {
			places[i] = place(i)
		}
		conditions = append(conditions, "("+strings.Join(keys, ", ")+") > ("+strings.Join(places, ", ")+")")
	}
	if waiting && t.Waiting != "" {
		conditions = append(conditions, t.Waiting)
	}
	sql = t.Select()
	if len(conditions) > 0 {
		sql += "\nWHERE " + strings.Join(conditions, " AND ")
	}
	sql += "\nORDER BY " + strings.Join(keys, ", ") + "\nLIMIT " + place(len(args))
	return sql, append(args, limit), nil
}

// Count returns the query of the number of rows.
func (t *RowTable) Count(waiting bool) string {
	sql := "\nSELECT count(*)\nFROM " + t.Name + " j"
	if waiting && t.Waiting != "" {
		sql += "\nWHERE " + t.Waiting
	}
	return sql
}

// Insert returns the statement that inserts a row.
func (t *RowTable) Insert() string {
	places := make([]string, len(t.Columns))
	for i := range places {
		places[i] = place(i)
	}
	return "\nINSERT INTO " + t.Name + " (" + strings.Join(t.Names(), ", ") + ")\nVALUES (" + strings.Join(places, ", ") + ")"
}

// IDsAfter returns the ids of a sorted list that come after a key. A nil key is before the first.
func (t *RowTable) IDsAfter(ids []rota.ID, after []byte) ([]rota.ID, error) {
	if after == nil {
		return ids, nil
	}
	var v RowValue
	if _, err := readValue(after, ID, &v); err != nil {
		return nil, err
	}
	i, found := slices.BinarySearchFunc(ids, v.ID, rota.ID.Compare)
	if found {
		i++
	}
	return ids[i:], nil
}
