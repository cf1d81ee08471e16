package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
)

// Reads and checks that stories share.

// must returns what was read. It fails the story if the read failed.
func must[T any](y *story, what string, got T, err error) T {
	y.Helper()
	if err != nil {
		y.Fatalf("%s: %v", what, err)
	}
	return got
}

func (y *story) schedule(name string) *rota.Schedule {
	y.Helper()
	s, err := y.s.Schedule(y.ctx, name)
	return must(y, "schedule "+name, s, err)
}

func (y *story) template(name string) *rota.Template {
	y.Helper()
	t, err := y.s.Template(y.ctx, name)
	return must(y, "template "+name, t, err)
}

func (y *story) typeRow(name string) *rota.Type {
	y.Helper()
	t, err := y.s.Type(y.ctx, name)
	return must(y, "type "+name, t, err)
}

func (y *story) group(id rota.ID) *rota.Group {
	y.Helper()
	g, err := y.s.Group(y.ctx, id)
	return must(y, "group", g, err)
}

func (y *story) due() rota.Due {
	y.Helper()
	d, err := y.s.NextDue(y.ctx)
	return must(y, "next due", d, err)
}

// reservation reads a reservation.
func (y *story) reservation(id rota.ID) *rota.Reservation {
	y.Helper()
	list, err := y.s.Reservations(y.ctx, rota.ID{}, 0)
	for _, r := range must(y, "reservations", list, err) {
		if r.ID == id {
			return r
		}
	}
	y.Fatalf("there is no reservation %s", id)
	return nil
}

// lastAttempt reads the last attempt of an execution.
func (y *story) lastAttempt(id rota.ID) *rota.Job {
	y.Helper()
	chain, err := y.s.Execution(y.ctx, id)
	must(y, "execution", chain, err)
	return chain[len(chain)-1]
}

// wantState wants jobs to be in one state.
func (y *story) wantState(state rota.State, jobs ...*rota.Job) {
	y.Helper()
	for i, j := range jobs {
		if got := y.job(j.ID).State(); got != state {
			y.Errorf("job %d of %d is %s, want %s", i+1, len(jobs), got, state)
		}
	}
}

// wantHold wants a queued job to be held for exactly these reasons.
func (y *story) wantHold(j *rota.Job, hold rota.Hold) {
	y.Helper()
	row := y.job(j.ID)
	if row.Status != rota.StatusQueued || row.Hold != hold {
		y.Errorf("job %s is %s with hold %05b, want it QUEUED with %05b", j.ID, row.Status, row.Hold, hold)
	}
}

// wantSkipped wants a job to be recorded as SKIPPED now, with a code and a text.
func (y *story) wantSkipped(j *rota.Job, code, text string) {
	y.Helper()
	row := y.job(j.ID)
	if row.Run == nil {
		y.Fatalf("job %s is %s and has no run; it should have been skipped", j.ID, row.State())
	}
	want(y, "status", row.Status, rota.StatusRunning)
	want(y, "outcome", row.Run.Outcome, rota.OutcomeSkipped)
	want(y, "sequel", row.Sequel, rota.SequelNone)
	want(y, "hold", row.Hold, 0)
	want(y, "error code", row.Run.ErrorCode, code)
	want(y, "error", row.Run.Error, text)
	want(y, "runner", row.Run.Runner, "")
	wantTime(y, "started at", row.StartedAt, y.now)
	wantTime(y, "finished at", row.FinishedAt, y.now)
	wantTime(y, "run finished at", row.Run.FinishedAt, y.now)
	wantTime(y, "stale after", row.Run.StaleAfter, y.now)
}

// wantField sends a command that must be refused with a code and a field.
func (y *story) wantField(code rota.Code, field string, c rota.Command) *rota.Error {
	y.Helper()
	err := y.refused(code, c)
	want(y, "field of the refusal of "+string(c.Verb()), err.Field, field)
	return err
}

// auditEntry returns the entry that a command writes now about its subject.
func (y *story) auditEntry(c rota.Command, act, subject, detail string) rota.AuditEntry {
	return rota.AuditEntry{
		ID: rota.AuditNameID(c.Head().ID, c.Verb(), subject), At: y.now, Actor: cmp.Or(c.Head().Actor, rota.SystemActor),
		Act: act, Subject: subject, Detail: detail,
	}
}

// auditEffect returns the entry that a command writes now about a side effect.
func (y *story) auditEffect(c rota.Command, act, subject, detail string) rota.AuditEntry {
	e := y.auditEntry(c, act, subject, detail)
	e.ID = rota.AuditNameID(c.Head().ID, c.Verb(), act+" "+subject)
	return e
}

// wantAuditSince wants exactly these entries to be written after others, in any order. It compares
// what an entry says of the act and of its subject; the stories of the audit compare the rest.
func (y *story) wantAuditSince(written []rota.AuditEntry, entries ...rota.AuditEntry) {
	y.Helper()
	show := func(list []rota.AuditEntry) string {
		var lines []string
		for _, e := range list {
			subject := e.Subject
			if !e.JobID.IsZero() {
				subject = rota.JobSubject(e.JobID)
			}
			lines = append(lines, fmt.Sprintf("%s %s %s by %q about %s: %s", e.ID, timeText(e.At), e.Act, e.Actor, subject, e.Detail))
		}
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	since := slices.DeleteFunc(y.writtenAudit(), func(e rota.AuditEntry) bool {
		return slices.ContainsFunc(written, func(w rota.AuditEntry) bool { return w.ID == e.ID })
	})
	if got, wanted := show(since), show(entries); got != wanted {
		y.Errorf("written to the audit:\n%s\nwant:\n%s", got, wanted)
	}
}

// writtenAudit returns the entries that commands have written, oldest first, without those that
// follow from jobs.
func (y *story) writtenAudit() []rota.AuditEntry {
	y.Helper()
	all, err := wholeAudit(y.ctx, y.s)
	return slices.DeleteFunc(must(y, "audit", all, err), func(e rota.AuditEntry) bool {
		return e.ID == e.JobID || e.ID == rota.AuditEndID(e.JobID)
	})
}

// wantNoViolations wants verify to find no violation.
func (y *story) wantNoViolations() {
	y.Helper()
	if found := violations(y.ctx, y.s); found != "" {
		y.Errorf("verify found:\n%s", found)
	}
}

// wantNotFound wants a read to fail with NotFound.
func (y *story) wantNotFound(what string, err error) {
	y.Helper()
	if rota.CodeOf(err) != rota.NotFound {
		y.Errorf("%s: %v, want NotFound", what, err)
	}
}

func (y *story) wantNoSchedule(name string) {
	y.Helper()
	_, err := y.s.Schedule(y.ctx, name)
	y.wantNotFound("schedule "+name, err)
}

// joinNames returns the names of a list, joined by spaces, or "none".
func joinNames[T any](list []T, name func(T) string) string {
	var all []string
	for _, one := range list {
		all = append(all, name(one))
	}
	return cmp.Or(strings.Join(all, " "), "none")
}
