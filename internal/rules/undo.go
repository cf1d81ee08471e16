package rules

// undo takes back one thing that was decided: a job's row, or something else.
type undo struct {
	row  *jobRow
	was  jobRow
	back func()
}

// mark begins a command; back takes back what was decided since.
func (w *UnitOfWork) mark() int {
	w.step++
	return len(w.undo)
}

func (w *UnitOfWork) back(mark int) {
	for i := len(w.undo) - 1; i >= mark; i-- {
		if u := &w.undo[i]; u.back != nil {
			u.back()
		} else {
			touched, asked := u.row.touched, u.row.asked
			*u.row = u.was
			u.row.touched, u.row.asked = touched, asked
		}
	}
	w.undo = w.undo[:mark]
}

// remember keeps a row as it is, to be able to go back to it.
func (w *UnitOfWork) remember(r *jobRow) {
	w.undo = append(w.undo, undo{row: r, was: *r})
}

// otherwise keeps a way back for what is not a job's row.
func (w *UnitOfWork) otherwise(back func()) {
	w.undo = append(w.undo, undo{back: back})
}

func setWithUndo[K comparable, V any](w *UnitOfWork, m map[K]V, key K, value V) {
	before, known := m[key]
	w.otherwise(func() {
		if known {
			m[key] = before
		} else {
			delete(m, key)
		}
	})
	m[key] = value
}
