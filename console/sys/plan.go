package sys

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"
)

// plan is how one walk through a table is made: which way, what of it is bound to
// which argument, and what is looked at. SQLite carries it as text from BestIndex
// to Filter.
type plan struct {
	way  int
	lean bool
	args []arg
}

// arg is what one argument of Filter is for.
type arg struct {
	use    byte // one of the letters below
	column int
}

const (
	useIs    = '='
	useFrom  = '>'
	useTo    = '<'
	useMost  = 'n'
	useAfter = 'o' // so many are passed over first
)

func (p *plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %t", p.way, p.lean)
	for _, a := range p.args {
		fmt.Fprintf(&b, " %c%d", a.use, a.column)
	}
	return b.String()
}

func parsePlan(text string) (p plan, err error) {
	words := strings.Fields(text)
	if len(words) < 2 {
		return p, fmt.Errorf("sys: %q is not a plan", text)
	}
	if p.way, err = strconv.Atoi(words[0]); err != nil {
		return p, err
	}
	p.lean = words[1] == "true"
	for _, w := range words[2:] {
		column, err := strconv.Atoi(w[1:])
		if err != nil {
			return p, err
		}
		p.args = append(p.args, arg{use: w[0], column: column})
	}
	return p, nil
}

// BestIndex chooses the way that brings the fewest rows, and of those as few the
// one that brings them in order.
func (v *virtual[R]) BestIndex(in *sqlite.IndexInputs) (*sqlite.IndexOutputs, error) {
	var best *sqlite.IndexOutputs
	for i := range v.ways {
		out := v.consider(i, in)
		if out != nil && (best == nil || out.EstimatedCost < best.EstimatedCost) {
			best = out
		}
	}
	return best, nil
}

// consider says what one way would be for a statement, or nil if it cannot be
// gone.
func (v *virtual[R]) consider(i int, in *sqlite.IndexInputs) *sqlite.IndexOutputs {
	w := &v.ways[i]
	if w.count && (in.ColumnsUsed != 0 || len(in.Constraints) > 0) {
		return nil
	}
	out := &sqlite.IndexOutputs{ConstraintUsage: make([]sqlite.IndexConstraintUsage, len(in.Constraints))}
	p := plan{way: i, lean: in.ColumnsUsed&v.rich == 0}
	by, all, narrowed := w.by == "", true, int64(1)
	for k, c := range in.Constraints {
		use := v.usable(w, c)
		if use == 0 {
			all = false
			continue
		}
		p.args = append(p.args, arg{use, c.Column})
		out.ConstraintUsage[k].ArgvIndex = len(p.args)
		switch {
		case use == useIs && v.columns[c.Column].name == w.by:
			by = true
		case use == useIs:
			narrowed = min(narrowed*4, narrowedMost)
		case use == useFrom || use == useTo:
			narrowed = min(narrowed*2, narrowedMost)
		}
	}
	if !by {
		return nil
	}
	out.OrderByConsumed = v.inOrder(w, in.OrderBy)
	if !all || len(in.OrderBy) > 0 && !out.OrderByConsumed {
		p.forgetMost(out)
	}
	out.ID.String = p.String()
	out.EstimatedRows = max(1, w.rows/narrowed)
	out.EstimatedCost = float64(out.EstimatedRows)
	if len(in.OrderBy) > 0 && !out.OrderByConsumed {
		out.EstimatedCost *= 3 // they are sorted afterwards
	}
	if w.rows == 1 {
		out.IndexFlags = sqlite.IndexScanUnique
	}
	return out
}

// narrowedMost is by how much conditions are taken to narrow what is read, however
// many there are.
const narrowedMost = 1 << 20

// forgetMost leaves out how many rows are needed. It says nothing about a read
// whose rows SQLite has yet to choose from, or to sort.
func (p *plan) forgetMost(out *sqlite.IndexOutputs) {
	kept := p.args[:0]
	for i, a := range p.args {
		at := slices.IndexFunc(out.ConstraintUsage, func(u sqlite.IndexConstraintUsage) bool { return u.ArgvIndex == i+1 })
		if a.use == useMost || a.use == useAfter {
			out.ConstraintUsage[at] = sqlite.IndexConstraintUsage{}
			continue
		}
		kept = append(kept, a)
		out.ConstraintUsage[at].ArgvIndex = len(kept)
	}
	p.args = kept
}

// usable says what a way can do with a condition, 0 if nothing.
func (v *virtual[R]) usable(w *way[R], c sqlite.IndexConstraint) byte {
	if !c.Usable {
		return 0
	}
	switch c.Op {
	case sqlite.IndexConstraintLimit:
		return useMost
	case sqlite.IndexConstraintOffset:
		return useAfter
	}
	if c.Column < 0 {
		return 0
	}
	column := v.columns[c.Column]
	if !column.kind.Number() && c.Collation != collation(column.kind) { // a store compares bytes, and ids
		return 0
	}
	switch {
	case c.Op == sqlite.IndexConstraintEq && (column.name == w.by || slices.Contains(w.also, column.name)):
		return useIs
	case column.name != w.span || w.span == "":
		return 0
	}
	switch c.Op {
	case sqlite.IndexConstraintEq:
		return useIs
	case sqlite.IndexConstraintGT, sqlite.IndexConstraintGE:
		return useFrom
	case sqlite.IndexConstraintLT, sqlite.IndexConstraintLE:
		return useTo
	}
	return 0
}

// inOrder says whether the rows of a way come as they are asked for. NULLs come
// last there; SQLite takes that for granted in no descending order, so those are
// handed down only where there is no NULL.
func (v *virtual[R]) inOrder(w *way[R], asked []sqlite.IndexOrderBy) bool {
	if len(asked) == 0 || len(w.order) == 0 || w.alone && len(asked) > 1 {
		return false
	}
	for i, o := range asked {
		if i == len(w.order) {
			return true // what came before is unique
		}
		if o.Column < 0 || v.columns[o.Column].name != w.order[i].column || o.Desc != w.order[i].desc {
			return false
		}
		if o.Desc && !v.columns[o.Column].must {
			return false
		}
	}
	return true
}
