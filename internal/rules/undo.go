package rules

import "slices"

// undo reverses one change: that of a job's row, or any other by restore.
type undo struct {
	row     *jobRow
	was     jobRow
	restore func()
}

// mark begins a command. undoTo reverses what was decided since.
func (u *UnitOfWork) mark() int {
	u.commandSeq++
	return len(u.undo)
}

func (u *UnitOfWork) undoTo(mark int) {
	for i := len(u.undo) - 1; i >= mark; i-- {
		if entry := &u.undo[i]; entry.restore != nil {
			entry.restore()
		} else {
			touched, missed, missedFull := entry.row.touched, entry.row.missed, entry.row.missedFull
			*entry.row = entry.was
			entry.row.touched, entry.row.missed, entry.row.missedFull = touched, missed, missedFull
		}
	}
	u.undo = u.undo[:mark]
}

// changedSince reports whether anything was decided differently since a mark. A job that was set to what it was has
// not changed.
func (u *UnitOfWork) changedSince(mark int) bool {
	return slices.ContainsFunc(u.undo[mark:], func(entry undo) bool {
		if entry.restore != nil {
			return true
		}
		was, is := entry.was.is, entry.row.is
		return (was == nil) != (is == nil) || was != nil && diffJob(was, is)|diffRun(was.Run, is.Run) != 0
	})
}

// saveRow keeps a copy of a row, to undo its change.
func (u *UnitOfWork) saveRow(r *jobRow) {
	u.undo = append(u.undo, undo{row: r, was: *r})
}

// onUndo registers how to reverse a change of anything but a job's row.
func (u *UnitOfWork) onUndo(restore func()) {
	u.undo = append(u.undo, undo{restore: restore})
}

// appendWithUndo appends to a list of a map.
func appendWithUndo[K comparable, V any](u *UnitOfWork, m *map[K][]V, key K, value V) {
	if *m == nil {
		*m = map[K][]V{}
	}
	before := (*m)[key]
	u.onUndo(func() { (*m)[key] = before })
	(*m)[key] = append(before, value)
}
