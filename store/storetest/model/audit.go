package model

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/diff"
	"github.com/rotajobs/rota/internal/scrub"
)

// Subjects of audit entries that are not about jobs.
func typeSubject(name string) string       { return "type " + name }
func templateSubject(name string) string   { return "template " + name }
func scheduleSubject(name string) string   { return "schedule " + name }
func groupSubject(id rota.ID) string       { return "group " + id.String() }
func reservationSubject(id rota.ID) string { return "reservation " + id.String() }

const limitsSubject = "limits"

// auditJob adds an entry about a job, as the command leaves it.
func (s *step) auditJob(act string, j *rota.Job, detail string) {
	s.auditJobAs(s.actor(), act, j, detail, nil)
}

// auditJobAs adds an entry about a job on behalf of an actor.
func (s *step) auditJobAs(actor, act string, j *rota.Job, detail string, changes json.RawMessage) {
	s.auditAttempt(actor, act, j.ID, j, detail, changes)
}

// auditAttempt adds an entry about a job that the command names by the id of an earlier attempt.
func (s *step) auditAttempt(actor, act string, named rota.ID, j *rota.Job, detail string, changes json.RawMessage) {
	e := rota.AuditEntry{
		ID: s.auditID(named), At: s.now, Actor: actor, Act: act, Subject: "job " + j.ID.String(), Schedule: j.Schedule,
		JobID: j.ID, ExecutionID: j.ExecutionID, Detail: detail, Changes: changes,
	}
	if act == rota.AuditJobCancelled {
		e.Outcome = "CANCELLED"
	}
	if j.Run != nil {
		e.RunID = j.Run.ID
	}
	s.appendAudit(e)
}

// auditSubject adds an entry about the subject of the command.
func (s *step) auditSubject(act, subject, detail string, changes json.RawMessage) {
	s.auditName(subject, act, subject, detail, changes)
}

// auditEffect adds an entry about a side effect of the command.
func (s *step) auditEffect(act, subject, detail string, changes json.RawMessage) {
	s.auditName(act+" "+subject, act, subject, detail, changes)
}

// auditFired adds an entry about a schedule that a caller fired, with the job if there is one.
func (s *step) auditFired(schedule, verb string, jobs []*rota.Job) {
	s.auditSubject(rota.AuditScheduleFired, scheduleSubject(schedule), verb, nil)
	if e := &s.audit[len(s.audit)-1]; len(jobs) == 1 {
		e.JobID, e.ExecutionID = jobs[0].ID, jobs[0].ID
	}
}

func (s *step) auditName(name, act, subject, detail string, changes json.RawMessage) {
	e := rota.AuditEntry{
		ID: s.auditNameID(name), At: s.now, Actor: s.actor(), Act: act, Subject: subject, Detail: detail, Changes: changes,
	}
	if strings.HasPrefix(subject, "schedule ") {
		e.Schedule = subject[len("schedule "):]
	}
	s.appendAudit(e)
}

// appendAudit adds an entry once. A command that is sent again and changes rows again adds no
// second one.
func (s *step) appendAudit(e rota.AuditEntry) {
	if !s.hasEntry(e.ID) {
		if e.Actor == "" {
			e.Actor = "rota"
		}
		if e.Outcome == "" {
			e.Outcome = "OK"
		}
		e.Detail = scrub.Text(e.Detail)
		s.audit = append(s.audit, e)
	}
}

// The documents of an entry that says what changed. None stands for a row that does not exist.
var none []byte

func typeDocument(t *rota.Type) []byte {
	return withFields(t.Spec, map[string]any{"paused": t.Paused})
}

func templateDocument(t *rota.Template) []byte {
	return withFields(t.Spec, map[string]any{"state": t.State, "owner": t.Owner})
}

// scheduleDocument contains the template, which says what the jobs of the schedule do.
func (s *step) scheduleDocument(d *rota.Schedule) []byte {
	own, template := withFields(d.Spec, map[string]any{"state": d.State, "owner": d.Owner}), none
	if t := s.template(d.Spec.Template); t != nil {
		template = shownSpec(t.Spec)
	}
	return diff.WithTemplate(own, template)
}

func jobDocument(j *rota.Job) []byte {
	fields := map[string]any{"priority": j.Priority, "position": j.Position, "params": j.Params}
	if !j.RunAt.IsZero() {
		fields["run_at"] = j.RunAt
	}
	return rota.EncodeSpec(fields)
}

// shownSpec returns a specification with durations as text.
func shownSpec(spec any) []byte {
	return diff.Durations(spec, rota.EncodeSpec(spec), rota.FormatDuration)
}

// withFields returns a specification with more fields.
func withFields(spec any, own map[string]any) []byte {
	fields := map[string]any{}
	var stored map[string]json.RawMessage
	if err := json.Unmarshal(shownSpec(spec), &stored); err != nil {
		panic(err)
	}
	for field, one := range stored {
		fields[field] = one
	}
	maps.Copy(fields, own)
	if fields["owner"] == "" {
		delete(fields, "owner")
	}
	return rota.EncodeSpec(fields)
}

// auditUsers adds an entry for each schedule of a changed template, and returns what the entry of
// the template says about them.
func (s *step) auditUsers(t *rota.Template, old rota.TemplateSpec) (detail string) {
	changes := diff.Documents(diff.WithTemplate(none, shownSpec(old)), diff.WithTemplate(none, shownSpec(t.Spec)))
	for i, d := range s.schedulesOf(t.Name) {
		if i == rota.TemplateModifiedMax {
			return "more than 100 schedules use it; only the first 100 have an entry JOB_MODIFIED of their own"
		}
		s.auditEffect(rota.AuditScheduleModified, scheduleSubject(d.Name), "template "+t.Name, changes)
	}
	return ""
}

// Audit lists the audit, newest first: the written entries and those that follow from jobs.
func (m *Model) Audit(_ context.Context, q rota.AuditQuery) (rota.AuditPage, error) {
	if err := q.Validate(); err != nil {
		return rota.AuditPage{}, err
	}
	return read(m, func(s *state) (rota.AuditPage, error) {
		if !q.ExecutionID.IsZero() {
			q.ExecutionID = s.executionOf(q.ExecutionID)
		}
		var entries []rota.AuditEntry
		if !q.Derived {
			entries = slices.Clone(s.audit)
		}
		for _, j := range s.jobs {
			entries = append(entries, j.AuditEntries()...)
		}
		slices.SortFunc(entries, func(a, b rota.AuditEntry) int { return b.Compare(&a) })
		entries = slices.DeleteFunc(entries, func(e rota.AuditEntry) bool {
			last := rota.AuditEntry{At: q.Before.At, ID: q.Before.ID}
			return !q.Matches(&e, s.find(e.JobID)) || q.Before != rota.AuditCursor{} && e.Compare(&last) >= 0
		})
		p := rota.AuditPage{Entries: entries}
		if p.Entries, p.More = page(entries, atMost(q.Limit)); p.More {
			last := p.Entries[len(p.Entries)-1]
			p.Next = rota.AuditCursor{At: last.At, ID: last.ID}
		}
		return p, nil
	})
}

// executionOf returns the execution of an attempt, also of one that was pruned.
func (s *state) executionOf(attempt rota.ID) rota.ID {
	if j := s.find(attempt); j != nil {
		return j.ExecutionID
	}
	for _, e := range slices.Backward(s.audit) {
		if e.Subject == rota.JobSubject(attempt) && !e.ExecutionID.IsZero() {
			return e.ExecutionID
		}
	}
	return attempt
}

// auditedJob reports whether the command has written an entry about a job.
func (s *step) auditedJob(job rota.ID) bool { return s.hasEntry(s.auditID(job)) }

// auditedSubject reports whether the command has written an entry about a subject.
func (s *step) auditedSubject(subject string) bool { return s.hasEntry(s.auditNameID(subject)) }

func (s *step) hasEntry(id rota.ID) bool {
	return slices.ContainsFunc(s.audit, func(e rota.AuditEntry) bool { return e.ID == id })
}

func (s *step) auditID(job rota.ID) rota.ID { return rota.AuditID(s.id(), s.command.Verb(), job) }

func (s *step) auditNameID(subject string) rota.ID {
	return rota.AuditNameID(s.id(), s.command.Verb(), subject)
}
