package rules

// missed stops a rule at a row that is not known yet. Only attempt recovers it.
type missed struct{}

// widening is the factor by which a query is widened if this transaction has
// changed too many of the rows that it found. A small factor would cause many
// different queries, each with a round of loading.
const widening = 8

// attempt runs a rule, and reports whether it needs rows that are not known.
func attempt(rule func()) (complete bool) {
	defer func() {
		if complete {
			return
		}
		if failure := recover(); failure != nil {
			if _, is := failure.(missed); !is {
				panic(failure)
			}
		}
	}()
	rule()
	return true
}

// each runs a rule for each of some items. If an item needs rows that are not
// known, it is undone, and the items after it run only to find out which rows
// they need: all these rows are loaded together, and the command runs again.
func (u *UnitOfWork) each(count int, rule func(i int)) {
	complete := true
	for i := range count {
		begin := len(u.undo)
		if !attempt(func() { rule(i) }) {
			u.undoTo(begin)
			complete = false
		}
	}
	if !complete {
		panic(missed{})
	}
}

// together runs rules one after the other, as each does.
func (u *UnitOfWork) together(rules ...func()) {
	u.each(len(rules), func(i int) { rules[i]() })
}
