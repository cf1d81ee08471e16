package system

import (
	"slices"

	"zombiezen.com/go/sqlite"
)

// plan describes one scan: the access path, the use of each argument, and whether a lean read is enough. BestIndex adds
// it to the plans of the query, and SQLite passes its number to Filter.
type plan struct {
	path int
	lean bool
	args []arg
}

// arg is the use of one argument of Filter.
type arg struct {
	use    byte // one of the letters below
	column int
}

const (
	useEqual  = '='
	useFrom   = '>'
	useTo     = '<'
	useLimit  = 'n'
	useOffset = 'o' // rows to skip
)

// BestIndex chooses the access path with the lowest cost: the fewest rows, and among equals one in the right order.
func (v *virtual[R]) BestIndex(in *sqlite.IndexInputs) (*sqlite.IndexOutputs, error) {
	var best *sqlite.IndexOutputs
	var chosen plan
	for i := range v.paths {
		p, out := v.evaluate(i, in)
		if out != nil && (best == nil || out.EstimatedCost < best.EstimatedCost) {
			best, chosen = out, p
		}
	}
	if best != nil {
		best.ID.Num = v.db.query.planNumber(chosen)
	}
	return best, nil
}

// planNumber returns the number of a plan among those of the query. Equal plans have the same number.
func (q *query) planNumber(p plan) int32 {
	i := slices.IndexFunc(q.plans, p.equal)
	if i < 0 {
		i = len(q.plans)
		q.plans = append(q.plans, p)
	}
	return int32(i)
}

func (p plan) equal(o plan) bool {
	return p.path == o.path && p.lean == o.lean && slices.Equal(p.args, o.args)
}

// evaluate returns the plan and cost of one access path, or nil if it cannot be used.
func (v *virtual[R]) evaluate(i int, in *sqlite.IndexInputs) (plan, *sqlite.IndexOutputs) {
	w := &v.paths[i]
	if w.countOnly && (in.ColumnsUsed != 0 || len(in.Constraints) > 0) {
		return plan{}, nil
	}
	out := &sqlite.IndexOutputs{ConstraintUsage: make([]sqlite.IndexConstraintUsage, len(in.Constraints))}
	p := plan{path: i, lean: in.ColumnsUsed&v.fullRowColumns == 0}
	uses, by, all, narrowed := make([]byte, len(in.Constraints)), w.key == "", true, int64(1)
	for k, c := range in.Constraints {
		uses[k] = v.usable(w, c)
		switch use := uses[k]; {
		case use == 0:
			all = false
		case use == useEqual && v.columns[c.Column].name == w.key:
			by = true
		case use == useEqual:
			narrowed = min(narrowed*4, narrowedMax)
		case use == useFrom || use == useTo:
			narrowed = min(narrowed*2, narrowedMax)
		}
	}
	if !by {
		return plan{}, nil
	}
	out.OrderByConsumed = v.inOrder(w, in.OrderBy)
	sorts := len(in.OrderBy) > 0 && !out.OrderByConsumed
	for k, use := range uses {
		limits := use == useLimit || use == useOffset
		if use == 0 || limits && (!all || sorts) { // LIMIT does not apply to rows that SQLite still filters or sorts
			continue
		}
		p.args = append(p.args, arg{use, in.Constraints[k].Column})
		out.ConstraintUsage[k].ArgvIndex = len(p.args)
	}
	out.EstimatedRows = max(1, w.rows/narrowed)
	out.EstimatedCost = float64(out.EstimatedRows)
	if sorts {
		out.EstimatedCost *= 3 // they are sorted afterwards
	}
	if w.rows == 1 {
		out.IndexFlags = sqlite.IndexScanUnique
	}
	return p, out
}

// narrowedMax bounds the factor by which conditions reduce the estimated number of rows.
const narrowedMax = 1 << 20

// usable returns how an access path uses a condition, or 0 if it cannot.
func (v *virtual[R]) usable(w *accessPath[R], c sqlite.IndexConstraint) byte {
	if !c.Usable {
		return 0
	}
	switch c.Op {
	case sqlite.IndexConstraintLimit:
		return useLimit
	case sqlite.IndexConstraintOffset:
		return useOffset
	}
	if c.Column < 0 {
		return 0
	}
	column := v.columns[c.Column]
	if !column.kind.Number() && c.Collation != collation(column.kind) { // a store compares bytes, and ids
		return 0
	}
	switch {
	case c.Op == sqlite.IndexConstraintEq && (column.name == w.key || slices.Contains(w.filters, column.name)):
		return useEqual
	case column.name != w.rangeColumn || w.rangeColumn == "":
		return 0
	}
	switch c.Op {
	case sqlite.IndexConstraintEq:
		return useEqual
	case sqlite.IndexConstraintGT, sqlite.IndexConstraintGE:
		return useFrom
	case sqlite.IndexConstraintLT, sqlite.IndexConstraintLE:
		return useTo
	}
	return 0
}

// inOrder reports whether an access path returns rows in the requested order. No column of an order is ever NULL.
func (v *virtual[R]) inOrder(w *accessPath[R], asked []sqlite.IndexOrderBy) bool {
	if len(asked) == 0 || len(w.order) == 0 || w.orderFirstOnly && len(asked) > 1 {
		return false
	}
	for i, o := range asked {
		if i == len(w.order) {
			return true // what came before is unique
		}
		if o.Column < 0 || v.columns[o.Column].name != w.order[i].column || o.Desc != w.order[i].desc {
			return false
		}
	}
	return true
}
