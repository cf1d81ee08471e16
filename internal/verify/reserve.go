package verify

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// Reservation checks a reservation, given the job of its direct run, nil if it
// has none or that does not exist.
func (v *Verifier) Reservation(r *rota.Reservation, j *rota.Job) {
	row := rules.ReservationSubject(r.ID)
	knownWord(v, row, "status", r.Status, rota.ReservationActive, rota.ReservationReleased, rota.ReservationExpired)
	v.checkAccepted(row, (&rota.Reserve{Node: r.Node}).Validate(), rota.CheckOutOfRange)
	v.times(row, r.ReservedAt, r.ExpiresAt, r.EndedAt)
	active := r.Status == rota.ReservationActive
	switch {
	case r.ID.IsZero():
		v.violation(rota.CheckIDShape, []string{row}, "its id is all zeros")
	case active && !r.EndedAt.IsZero():
		v.violation(rota.CheckReservationShape, []string{row}, "it is ACTIVE, but ended at %s", rules.Stamp(r.EndedAt))
	case !active && r.EndedAt.IsZero():
		v.violation(rota.CheckReservationShape, []string{row}, "it is %s, but has no end time", r.Status)
	}
	if !active {
		return
	}
	if !v.active.IsZero() {
		v.violation(rota.CheckReservationTwice, []string{rules.ReservationSubject(v.active), row}, "both are ACTIVE")
	}
	v.active = r.ID
	v.directRun(row, r, j)
}

func (v *Verifier) directRun(row string, r *rota.Reservation, j *rota.Job) {
	rows := []string{row, rules.JobRef(r.JobID)}
	switch {
	case r.JobID.IsZero():
	case j == nil:
		v.violation(rota.CheckReservationRun, rows, "it is ACTIVE, but the job of its direct run does not exist")
	case !rules.IsOpen(j):
		v.violation(rota.CheckReservationRun, rows, "it is ACTIVE, but its direct run is %s", j.State())
	case j.Run != nil && j.Run.Runner != r.Node:
		v.violation(rota.CheckReservationRun, rows, "it is for node %s, but its direct run is on %s", r.Node, j.Run.Runner)
	}
}

// Intent notes that a Sweep has work to do. there states whether its subject
// exists; a key always does.
func (v *Verifier) Intent(i rules.Intent, there bool) {
	v.intents[i] = true
	if i.Kind == rules.IntentKeys && (v.keysAfter == nil || i.Name < *v.keysAfter) {
		v.keysAfter = &i.Name
	}
	row := "intent " + i.Kind + " " + i.Name
	knownWord(v, row, "kind", i.Kind, rules.IntentGroup, rules.IntentKey, rules.IntentKeys, rules.IntentTemplate, rules.IntentDrop)
	if !there {
		v.violation(rota.CheckIntentMissing, []string{row}, "there is no %s %s", i.Kind, i.Name)
	}
}
