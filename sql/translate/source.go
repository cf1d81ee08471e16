package translate

import (
	"github.com/rotajobs/rota/sql/query"
)

// relation is one source, or several joined ones.
type relation struct {
	sql     *sql
	names   []column
	sources []*source
	joined  bool // a join, which needs parentheses beside another source
}

// from translates the FROM clause.
func (t *translator) from(sel *selection) *sql {
	var texts []*sql
	sel.clause = "FROM"
	for i, src := range sel.node.From {
		r := t.source(src, sel.scope)
		sel.scope.addRelation(r)
		if i > 0 && r.joined {
			r.sql = cat("(", r.sql, ")")
		}
		texts = append(texts, r.sql)
	}
	if len(texts) == 0 {
		return nil
	}
	return cat(" FROM ", list(texts))
}

// addRelation adds the names of sources to the scope.
func (s *scope) addRelation(r *relation) {
	for _, more := range r.sources {
		for _, have := range s.sources {
			if have.name == more.name && (have.schema == more.schema || have.schema == "" || more.schema == "") {
				panic(queryError(StateAlias, -1, "table name %q specified more than once", more.name).WithHint("give one of the tables another name with AS"))
			}
		}
	}
	s.names = append(s.names, r.names...)
	s.sources = append(s.sources, r.sources...)
}

// source translates one item of FROM. The items to its left are in the scope already; only a
// lateral item may refer to them.
func (t *translator) source(src query.Source, s *scope) *relation {
	switch src := src.(type) {
	case *query.Table:
		return t.table(src, s)
	case *query.Derived:
		return t.derived(src, s)
	case *query.FuncSource:
		return t.funcSource(src, s)
	case *query.Join:
		t.enter(src.At)
		defer t.leave()
		return t.join(src, s)
	}
	panic(unsupported(-1, "this form of FROM item is not supported"))
}

// table translates a reference to a common table or to a table of the catalogue.
func (t *translator) table(src *query.Table, s *scope) *relation {
	name := src.Path[len(src.Path)-1].Text
	schema := ""
	if len(src.Path) > 1 {
		schema = src.Path[len(src.Path)-2].Text
	}
	if c := s.commonTable(name); c != nil && schema == "" {
		from := &source{name: name, columns: append([]column{}, c.columns...)}
		return t.nameSource(from, raw(quoted(c.alias)).reading(c.refs), c.alias, src.Alias, src.At)
	}
	table, found := t.in.Table(schema, name)
	if !found && relationOfPostgreSQL(schema, name) {
		panic(unsupported(src.At, "relation %q of PostgreSQL is not supported", pathText(src.Path)).WithHint("SELECT relname FROM pg_class lists the relations that are supported"))
	}
	if !found {
		panic(queryError(StateTable, src.At, "relation %q does not exist", pathText(src.Path)).WithHint("%s", suggestion(pathText(src.Path), "the tables are", t.in.Tables())))
	}
	from := &source{name: name, schema: table.Schema, oid: table.OID}
	for i, c := range table.Columns {
		from.columns = append(from.columns, column{name: c.Name, kind: c.Kind, alias: c.Name, notNull: c.NotNull, short: !c.Long, sortKey: c.SortKey})
		if table.OID != 0 {
			from.columns[i].from = Origin{table.OID, i + 1}
		}
	}
	text := raw(quoted(table.Name)).reading(1)
	if table.Schema != "" {
		text = cat(quoted(table.Schema)+".", text)
	}
	return t.nameSource(from, text, table.Name, src.Alias, src.At)
}

// nameSource gives a source its name in the query and its alias in the text. own is the name
// that the text already uses.
func (t *translator) nameSource(from *source, text *sql, own string, alias query.Alias, at int) *relation {
	if alias.Name != nil {
		from.name, from.schema = alias.Name.Text, ""
	}
	from.alias = t.alias(from.name)
	rename(from.columns, alias.Columns, from.name)
	for i := range from.columns {
		c := &from.columns[i]
		c.sql = raw(quoted(from.alias) + "." + quoted(c.alias))
		if c.short {
			c.sql = c.sql.short()
		}
		if c.sortKey != "" {
			c.sortKey = quoted(from.alias) + "." + quoted(c.sortKey)
		}
	}
	if from.alias != own {
		text = cat(text, " AS ", quoted(from.alias))
	}
	return &relation{sql: text, names: from.columns, sources: []*source{from}}
}

// derived translates a subquery in FROM. SQLite does not support LATERAL: a subquery that
// refers to other items of FROM becomes one JSON array of its rows, computed for each row of
// those.
func (t *translator) derived(src *query.Derived, s *scope) *relation {
	around := s.outer
	if src.Lateral {
		around = s
	} else if len(s.with) > 0 {
		around = (&scope{outer: s.outer}).withCommonTables(s)
	}
	b := t.resolveBlock(t.query(src.Query, around))
	from := &source{columns: append([]column{}, b.columns...)}
	if src.Lateral && refersTo(b.ungrouped, s) {
		return t.lateral(from, b, src)
	}
	return t.nameSource(from, cat("(", b.write(true), ")"), "", src.Alias, src.At)
}

// refersTo reports whether a block refers to sources of the scope.
func refersTo(to []ungroupedColumn, s *scope) bool {
	for _, l := range to {
		if l.scope == s.sel {
			return true
		}
	}
	return false
}

func (t *translator) lateral(from *source, b *block, src *query.Derived) *relation {
	checkArgs(len(b.columns), "the row of a LATERAL subquery", src.At)
	outs := make([]*sql, len(b.columns))
	for i, c := range b.columns {
		outs[i] = raw(quoted(c.alias))
	}
	row := cat("json_array(", list(outs), ")")
	text := cat("json_each((SELECT json_group_array(", row, ") FILTER (WHERE ", checkMemory(row), ") FROM (", b.write(true), ")))")
	r := t.nameSource(from, text, "", src.Alias, src.At)
	for i := range from.columns {
		from.columns[i].sql = cat("(", quoted(from.alias), ".\"value\" ->> ", number(i), ")")
	}
	return r
}

// join translates a join.
func (t *translator) join(j *query.Join, s *scope) *relation {
	left := t.source(j.Left, s)
	t.at = j.At
	beside := &scope{outer: s.outer, with: s.with, sel: s.sel, names: s.names, sources: s.sources}
	beside.addRelation(left)
	right := t.source(j.Right, beside)
	t.at = j.At
	both := &scope{outer: s.outer, with: s.with, sel: s.sel}
	for _, r := range []*relation{left, right} {
		both.addRelation(r)
	}
	if j.Kind == "LEFT" || j.Kind == "FULL" {
		nullable(both.names[len(left.names):], right.sources)
	}
	if j.Kind == "RIGHT" || j.Kind == "FULL" {
		nullable(both.names[:len(left.names)], left.sources)
	}
	out := &relation{names: both.names, sources: both.sources, joined: left.joined || j.Kind == "RIGHT" || j.Kind == "FULL"}
	on := t.matches(j, left, right, both, out)
	_, nested := j.Right.(*query.Join)
	if nested {
		right.sql = cat("(", right.sql, ")")
	}
	out.sql = cat(left.sql, raw(joinWords[j.Kind]), right.sql, on)
	return out
}

// nullable marks the columns of one side of an outer join, whose rows can be missing.
func nullable(names []column, sources []*source) {
	for _, from := range sources {
		nullable(from.columns, nil)
	}
	for i := range names {
		names[i].notNull, names[i].sortKey = false, ""
	}
}

// joinWords are SQLite's join operators. CROSS JOIN of SQLite would prevent it from choosing
// the order of the tables.
var joinWords = map[string]string{"": " JOIN ", "INNER": " JOIN ", "CROSS": " JOIN ", "LEFT": " LEFT JOIN ", "RIGHT": " RIGHT JOIN ", "FULL": " FULL JOIN "}

// matches translates the condition of a join.
func (t *translator) matches(j *query.Join, left, right *relation, both *scope, out *relation) *sql {
	using := j.Using
	if j.Natural {
		using = sharedNames(left.names, right.names, j.At)
	}
	if len(using) > 0 {
		return t.using(j, using, left, right, out)
	}
	if j.On == nil {
		return nil
	}
	v := t.boolExpr(j.On, both, "argument of JOIN/ON")
	if both.sel != nil {
		both.sel.addOuter(v)
	}
	return cat(" ON ", v.sql)
}

// sharedNames are the column names that both sides have.
func sharedNames(left, right []column, at int) (names []query.Name) {
	for _, l := range left {
		for _, r := range right {
			if l.name == r.name {
				names = append(names, query.Name{Text: l.name, At: at})
				break
			}
		}
	}
	return names
}

// using translates a join by columns of the same name, which are merged.
func (t *translator) using(j *query.Join, names []query.Name, left, right *relation, out *relation) *sql {
	var merged []column
	var conditions []*sql
	ls, rs := &scope{names: left.names, sources: left.sources}, &scope{names: right.names, sources: right.sources}
	for _, n := range names {
		var sides [2]value
		for i, side := range []*scope{ls, rs} {
			v, found := side.pickColumn(side.names, n.Text, n.Text, n.At)
			if !found {
				which := []string{"left", "right"}[i]
				panic(queryError(StateColumn, n.At, "column %q specified in USING clause does not exist in %s table", n.Text, which).
					WithHint("%s", suggestion(n.Text, "its columns are", columnNames(side.names))))
			}
			sides[i] = v
		}
		equal := t.compare("=", sides[0], sides[1], n.At)
		conditions = append(conditions, equal.atLevel(asNot))
		merged = append(merged, mergedColumn(j.Kind, n.Text, sides[0], sides[1]))
	}
	rest := append(without(left.names, names), without(right.names, names)...)
	out.names = append(merged, rest...)
	text := cat(" ON ")
	for i, c := range conditions {
		if i > 0 {
			text.add(raw(" AND "))
		}
		text.add(c)
	}
	return text
}

// mergedColumn is the merged column of USING.
func mergedColumn(how, name string, left, right value) column {
	k, _ := commonKind(left.kind, right.kind)
	switch how {
	case "RIGHT":
		return column{name: name, kind: right.kind, sql: right.sql, from: right.from}
	case "FULL":
		return column{name: name, kind: k, sql: cat("coalesce(", left, ", ", right, ")")}
	}
	return column{name: name, kind: left.kind, sql: left.sql, from: left.from}
}

func without(columns []column, names []query.Name) (rest []column) {
next:
	for _, c := range columns {
		for _, n := range names {
			if c.name == n.Text {
				continue next
			}
		}
		rest = append(rest, c)
	}
	return rest
}
