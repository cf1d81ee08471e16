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
func (t *translator) checkRefs(text *sql) error {
	if len(t.commonTables) == 0 || text.refs <= refsMax {
		return nil
	}
	return queryError(StateLimit, -1, "the query is too large after its common table expressions are expanded").
		withHint("at most %d table references are allowed; refer to each common table expression fewer times", refsMax)
}

// with writes the WITH clause and adds the common tables to the scope.
func (t *translator) with(q *query.Query, s *scope) (*sql, error) {
	texts := make([]*sql, len(q.With))
	for i, c := range q.With {
		if s.with[c.Name.Text] != nil {
			return nil, queryError(StateAlias, c.Name.At, "WITH query name %q specified more than once", c.Name.Text).withHint("give one of the queries another name")
		}
		alias := t.alias(c.Name.Text)
		t.commonTables = append(t.commonTables, alias)
		b, err := t.commonBlock(c, q.Recursive, alias, s)
		if err != nil {
			return nil, err
		}
		table, err := tableOf(c, alias, b)
		if err != nil {
			return nil, err
		}
		text := b.write(true)
		table.refs = 1 + text.refs
		s.with[c.Name.Text] = table
		texts[i] = cat(quoted(alias), columnList(table.columns), " AS (", text, ")").from(c.Name.At).reading(0)
	}
	if q.Recursive {
		return cat("WITH RECURSIVE ", list(texts), " "), nil
	}
	return cat("WITH ", list(texts), " "), nil
}

// commonBlock translates the query of a common table. The second part of a recursive one knows
// the columns of the first part.
func (t *translator) commonBlock(c *query.Common, recursive bool, alias string, s *scope) (*block, error) {
	compound, is := c.Query.Body.(*query.Compound)
	if !recursive || !is || compound.Op != "UNION" || len(c.Query.With) > 0 || len(c.Query.Order) > 0 {
		b, err := t.query(c.Query, s)
		if err != nil {
			return nil, err
		}
		return t.resolveBlock(b)
	}
	inner := s.inner()
	inner.with = map[string]*commonTable{}
	b, err := t.compound(compound, inner, func(first *block) error {
		table, err := tableOf(c, alias, first)
		inner.with[c.Name.Text] = table
		return err
	})
	if err != nil {
		return nil, err
	}
	limit, err := t.limit(c.Query, s)
	if err != nil || limit == nil {
		return b, err
	}
	return &block{columns: b.columns, inner: func(named bool) *sql { return cat(b.write(named), limit) }}, nil
}

// tableOf creates a common table with the column names of the query.
func tableOf(c *query.Common, alias string, b *block) (*commonTable, error) {
	table := &commonTable{alias: alias, columns: append([]column{}, b.columns...), refs: 1}
	if err := rename(table.columns, c.Columns, c.Name.Text); err != nil {
		return nil, err
	}
	nameColumns(table.columns)
	return table, nil
}

// rename renames columns. There can be fewer names than columns.
func rename(columns []column, names []query.Name, of string) error {
	if len(names) > len(columns) {
		return queryError(StatePosition, names[len(columns)].At, "%q has %d columns available but %d columns specified", of, len(columns), len(names)).withHint("remove the last names")
	}
	for i, n := range names {
		columns[i].name = n.Text
	}
	return nil
}

// columnList writes the column names of a common table.
func columnList(columns []column) *sql {
	texts := make([]*sql, len(columns))
	for i, c := range columns {
		texts[i] = raw(quoted(c.alias))
	}
	return cat("(", list(texts), ")")
}
