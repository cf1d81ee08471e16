package rules

// undo takes back one thing that was decided: a job's row, or something else.
type undo struct {
	row     *jobRow
	was     jobRow
	restore func()
}

// savepoint begins a command; back takes back what was decided since.
func (u *UnitOfWork) savepoint() int {
	u.commandSeq++
	return len(u.undo)
}

func (u *UnitOfWork) restore(savepoint int) {
	for i := len(u.undo) - 1; i >= savepoint; i-- {
		if entry := &u.undo[i]; entry.restore != nil {
			entry.restore()
		} else {
			touched, asked := entry.row.touched, entry.row.queried
			*entry.row = entry.was
			entry.row.touched, entry.row.queried = touched, asked
		}
	}
	u.undo = u.undo[:savepoint]
}

// saveRow keeps a row as it is, to be able to go back to it.
func (u *UnitOfWork) saveRow(r *jobRow) {
	u.undo = append(u.undo, undo{row: r, was: *r})
}

// onRollback keeps a way back for what is not a job's row.
func (u *UnitOfWork) onRollback(restore func()) {
	u.undo = append(u.undo, undo{restore: restore})
}

func setWithUndo[K comparable, V any](u *UnitOfWork, m map[K]V, key K, value V) {
	before, known := m[key]
	u.onRollback(func() {
		if known {
			m[key] = before
		} else {
			delete(m, key)
		}
	})
	m[key] = value
}
