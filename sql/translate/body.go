package translate

import (
	"strconv"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// block is a query or a part of one whose columns are known.
type block struct {
	columns   []column
	items     []value                 // select list of a single SELECT, whose kinds can still change
	render    func(items []*sql) *sql // writes the text with these items
	member    bool                    // can be an operand of UNION without a subquery
	inner     func(named bool) *sql   // writes a block that is not a single SELECT
	ungrouped []ungroupedColumn       // columns of outer queries
	single    bool                    // returns at most one row
}

// write returns the text. named adds column names, for a block inside another query.
func (b *block) write(named bool) *sql {
	if b.render == nil {
		return b.inner(named)
	}
	texts := make([]*sql, len(b.items))
	for i, v := range b.items {
		texts[i] = v.sql
		if named && i < len(b.columns) {
			texts[i] = cat(v.sql, " AS ", quoted(b.columns[i].alias))
		}
	}
	if len(texts) == 0 { // SQLite requires at least one column
		texts = append(texts, raw("NULL"))
	}
	return b.render(texts)
}

// query translates a query in the scope that contains it.
func (t *translator) query(q *query.Query, outer *scope) *block {
	t.enter(q.At)
	defer t.leave()
	s := outer
	var with *sql
	if len(q.With) > 0 {
		s = outer.inner()
		s.with = map[string]*commonTable{}
		with = t.with(q, s)
	}
	b := t.ordered(q, s)
	b.single = b.single || atMostOne(q.Limit)
	if with == nil {
		return b
	}
	return b.withCommonTables(with)
}

// atMostOne reports whether the limit is the number 0 or 1.
func atMostOne(limit query.Expr) bool {
	n, is := limit.(*query.Number)
	return is && (n.Text == "0" || n.Text == "1")
}

// withCommonTables returns the block after its WITH clause.
func (b *block) withCommonTables(with *sql) *block {
	after := *b
	after.member = false
	if b.render != nil {
		after.render = func(items []*sql) *sql { return cat(with, b.render(items)) }
	} else {
		after.inner = func(named bool) *sql { return cat(with, b.inner(named)) }
	}
	return &after
}

// ordered translates a query with its ORDER BY and LIMIT.
func (t *translator) ordered(q *query.Query, s *scope) *block {
	if sel, is := q.Body.(*query.Select); is {
		return t.selectBlock(sel, q, s)
	}
	b := t.body(q.Body, s)
	if len(q.Order) == 0 && q.Limit == nil && q.Offset == nil {
		return b
	}
	b = t.resolveBlock(b)
	order := t.outputOrder(q.Order, b)
	limit := t.limit(q, s)
	before := b
	switch q.Body.(type) {
	case *query.Query, *query.Values: // the first can have its own order, and SQLite allows no order after VALUES
		before = b.wrapped()
	}
	return &block{columns: b.columns, ungrouped: b.ungrouped, single: b.single, inner: func(named bool) *sql { return cat(before.write(named), order, limit) }}
}

// wrapped returns the block as the only subquery of SELECT *.
func (b *block) wrapped() *block {
	return &block{columns: b.columns, ungrouped: b.ungrouped, member: true, inner: func(bool) *sql { return cat("SELECT * FROM (", b.write(true), ")") }}
}

// body translates the body of a query.
func (t *translator) body(body query.Body, s *scope) *block {
	switch body := body.(type) {
	case *query.Select:
		return t.selectBlock(body, nil, s)
	case *query.Values:
		return t.values(body, s)
	case *query.Compound:
		return t.compound(body, s, nil)
	case *query.Query:
		return t.query(body, s)
	}
	panic(queryError(StateUnsupported, -1, "this form of query is not supported"))
}

// values translates VALUES.
func (t *translator) values(body *query.Values, outer *scope) *block {
	s := outer.inner()
	rows := make([][]value, len(body.Rows))
	b := &block{member: true}
	for i, row := range body.Rows {
		if len(row) != len(body.Rows[0]) {
			panic(queryError(StateSyntax, body.At, "VALUES lists must all be the same length").WithHint("row %d has %d values, the first has %d", i+1, len(row), len(body.Rows[0])))
		}
		for _, e := range row {
			v := t.expr(e, s)
			rows[i] = append(rows[i], v)
			b.addUngrouped(v)
		}
	}
	for c := range rows[0] {
		cells := make([]value, len(rows))
		for i := range rows {
			cells[i] = rows[i][c]
		}
		k := t.unify("VALUES", cells)
		for i := range rows {
			rows[i][c] = cells[i]
		}
		b.columns = append(b.columns, column{name: "column" + strconv.Itoa(c+1), kind: k})
	}
	nameColumns(b.columns)
	if len(rows) == 1 {
		b.items, b.single = rows[0], true
		b.render = func(items []*sql) *sql { return cat("SELECT ", list(items)) }
		return b
	}
	b.inner = func(bool) *sql { return writeRows(rows) }
	return b
}

// addUngrouped records the columns of outer queries that the block refers to.
func (b *block) addUngrouped(v value) {
	holder := value{ungrouped: b.ungrouped}
	holder.addUngrouped(v.ungrouped)
	b.ungrouped = holder.ungrouped
}

// writeRows writes VALUES. SQLite calls its columns column1, column2 and so on.
func writeRows(rows [][]value) *sql {
	texts := make([]*sql, len(rows))
	for i, row := range rows {
		cells := make([]*sql, len(row))
		for c, v := range row {
			cells[c] = v.sql
		}
		texts[i] = cat("(", list(cells), ")")
	}
	return cat("VALUES ", list(texts))
}

// compound translates UNION, INTERSECT or EXCEPT. between is called after the first part was
// translated: a recursive common table then knows its columns.
func (t *translator) compound(c *query.Compound, s *scope, between func(*block)) *block {
	t.enter(c.At)
	defer t.leave()
	left := t.body(c.Left, s)
	if between != nil {
		left = t.resolveBlock(left)
		between(left)
	}
	right := t.body(c.Right, s)
	if len(left.columns) != len(right.columns) {
		panic(queryError(StateSyntax, c.At, "each %s query must have the same number of columns", c.Op).WithHint("the first has %d, the second %d", len(left.columns), len(right.columns)))
	}
	kinds := make([]kind.Kind, len(left.columns))
	for i := range kinds {
		k, fit := commonKind(left.columns[i].kind, right.columns[i].kind)
		if !fit {
			panic(queryError(StateMismatch, c.At, "%s types %s and %s cannot be matched", c.Op, typeTitle(left.columns[i].kind), typeTitle(right.columns[i].kind)).
				WithHint("cast column %d (%s) in one of the queries", i+1, left.columns[i].name))
		}
		if kinds[i] = k; k == kind.Unknown {
			kinds[i] = kind.Text
		}
	}
	left = t.convertBlock(left, kinds)
	right = t.convertBlock(right, kinds)
	for i := range left.columns { // they belong to no single table
		left.columns[i].from, left.columns[i].notNull = Origin{}, left.columns[i].notNull && right.columns[i].notNull
	}
	return t.compoundBlock(c, left, right)
}

// compoundBlock writes two blocks as one compound query.
func (t *translator) compoundBlock(c *query.Compound, left, right *block) *block {
	if _, nested := c.Right.(*query.Compound); nested || !right.member {
		right = right.wrapped()
	}
	if _, nested := c.Left.(*query.Query); nested || !left.member {
		left = left.wrapped()
	}
	b := &block{columns: left.columns, member: true}
	b.addUngrouped(value{ungrouped: left.ungrouped})
	b.addUngrouped(value{ungrouped: right.ungrouped})
	if c.All && c.Op != "UNION" {
		panic(unsupported(c.At, "%s ALL is not supported", c.Op).WithHint("remove ALL, or add a row number"))
	}
	op := " " + c.Op + " "
	if c.All {
		op = " " + c.Op + " ALL "
	}
	b.inner = func(named bool) *sql { return cat(left.write(named), raw(op), right.write(false)) }
	return b
}

// resolveBlock returns the block with a fixed kind for each column.
func (t *translator) resolveBlock(b *block) *block {
	kinds := make([]kind.Kind, len(b.columns))
	for i, c := range b.columns {
		if kinds[i] = c.kind; c.kind == kind.Unknown {
			kinds[i] = kind.Text
		}
	}
	return t.convertBlock(b, kinds)
}

// convertBlock converts the columns of a block to other kinds.
func (t *translator) convertBlock(b *block, kinds []kind.Kind) *block {
	after := *b
	after.columns = append([]column{}, b.columns...)
	same := true
	for i, k := range kinds {
		same = same && b.columns[i].kind == k
		after.columns[i].kind = k
	}
	if same {
		return &after
	}
	if b.items != nil {
		after.items = append([]value{}, b.items...)
		for i, k := range kinds {
			v := t.implicit(b.items[i], k)
			after.items[i] = v
		}
		return &after
	}
	return t.convertOutput(b, &after, kinds)
}

// convertOutput converts the columns of a block in a query around it.
func (t *translator) convertOutput(b, after *block, kinds []kind.Kind) *block {
	after.items, after.member = make([]value, len(kinds)), true
	for i, k := range kinds {
		v := value{sql: raw(quoted(b.columns[i].alias)), kind: b.columns[i].kind, level: atom, at: -1}
		v = t.implicit(v, k)
		after.items[i] = v
	}
	after.render = func(items []*sql) *sql { return cat("SELECT ", list(items), " FROM (", b.write(true), ")") }
	return after
}
