package translate

import (
	"github.com/rotajobs/rota/sql/query"
)

// commonTable is a common table expression.
type commonTable struct {
	alias   string
	columns []column
	refs    int // tables that it reads when expanded
}

// refsMax limits the table references of a query with common tables. SQLite first replaces each
// name of a common table by its text, so a few common tables that each name the previous one
// twice would use all memory.
const refsMax = 500

// checkRefs limits the size of the query after its common tables are expanded.
func (t *translator) checkRefs(text *sql) {
	if len(t.commonTables) == 0 || text.refs <= refsMax {
		return
	}
	panic(queryError(StateLimit, -1, "the query is too large after its common table expressions are expanded").
		WithHint("at most %d table references are allowed; refer to each common table expression fewer times", refsMax))
}

// with writes the WITH clause and adds the common tables to the scope.
func (t *translator) with(q *query.Query, s *scope) *sql {
	texts := make([]*sql, len(q.With))
	for i, c := range q.With {
		if s.with[c.Name.Text] != nil {
			panic(queryError(StateAlias, c.Name.At, "WITH query name %q specified more than once", c.Name.Text).WithHint("give one of the queries another name"))
		}
		alias := t.alias(c.Name.Text)
		t.commonTables = append(t.commonTables, alias)
		b := t.commonBlock(c, q.Recursive, alias, s)
		table := tableOf(c, alias, b)
		text := b.write(true)
		table.refs = 1 + text.refs
		s.with[c.Name.Text] = table
		texts[i] = cat(quoted(alias), columnList(table.columns), " AS (", text, ")").reading(0)
	}
	if q.Recursive {
		return cat("WITH RECURSIVE ", list(texts), " ")
	}
	return cat("WITH ", list(texts), " ")
}

// commonBlock translates the query of a common table. The second part of a recursive one knows
// the columns of the first part.
func (t *translator) commonBlock(c *query.Common, recursive bool, alias string, s *scope) *block {
	compound, is := c.Query.Body.(*query.Compound)
	if !recursive || !is || compound.Op != "UNION" || len(c.Query.With) > 0 || len(c.Query.Order) > 0 {
		b := t.query(c.Query, s)
		return t.resolveBlock(b)
	}
	inner := s.inner()
	inner.with = map[string]*commonTable{}
	b := t.compound(compound, inner, func(first *block) {
		table := tableOf(c, alias, first)
		inner.with[c.Name.Text] = table
	})
	limit := t.limit(c.Query, s)
	if limit == nil {
		return b
	}
	return &block{columns: b.columns, inner: func(named bool) *sql { return cat(b.write(named), limit) }}
}

// tableOf creates a common table with the column names of the query.
func tableOf(c *query.Common, alias string, b *block) *commonTable {
	table := &commonTable{alias: alias, columns: append([]column{}, b.columns...), refs: 1}
	rename(table.columns, c.Columns, c.Name.Text)
	nameColumns(table.columns)
	return table
}

// rename renames columns. There can be fewer names than columns.
func rename(columns []column, names []query.Name, of string) {
	if len(names) > len(columns) {
		panic(queryError(StatePosition, names[len(columns)].At, "%q has %d columns available but %d columns specified", of, len(columns), len(names)).WithHint("remove the last names"))
	}
	for i, n := range names {
		columns[i].name = n.Text
	}
}

// columnList writes the column names of a common table.
func columnList(columns []column) *sql {
	texts := make([]*sql, len(columns))
	for i, c := range columns {
		texts[i] = raw(quoted(c.alias))
	}
	return cat("(", list(texts), ")")
}
