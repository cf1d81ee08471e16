package rules

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/diff"
	"github.com/rotajobs/rota/internal/scrub"
)

// The audit entries that commands write. The ends of jobs are not among them:
// they are derived from the jobs until those are removed; see archive.

// audited reports whether an earlier sending of the command wrote an audit
// entry about the job.
func (u *UnitOfWork) audited(c rota.Command, job rota.ID) bool {
	return Audits.get(u, rota.AuditID(c.Head().ID, c.Verb(), job))
}

// wantAudited asks for what audited reads.
func (u *UnitOfWork) wantAudited(c rota.Command, job rota.ID) {
	Audits.want(u, rota.AuditID(c.Head().ID, c.Verb(), job))
}

// auditJob writes an audit entry about a job, as the command leaves it.
func (u *UnitOfWork) auditJob(c rota.Command, act string, j *rota.Job, detail string, changes json.RawMessage) {
	u.auditJobAs(c, actorOf(c), act, j, detail, changes)
}

// auditJobAs writes an audit entry about a job for an actor other than the
// sender of the command.
func (u *UnitOfWork) auditJobAs(c rota.Command, actor, act string, j *rota.Job, detail string, changes json.RawMessage) {
	u.auditAttempt(c, actor, act, j.ID, j, detail, changes)
}

// auditAttempt writes an audit entry about a job that the command names by the id
// of an earlier attempt. audited finds the entry by that id, also after the job
// was retried again.
func (u *UnitOfWork) auditAttempt(c rota.Command, actor, act string, named rota.ID, j *rota.Job, detail string, changes json.RawMessage) {
	e := rota.AuditEntry{
		ID: rota.AuditID(c.Head().ID, c.Verb(), named), At: u.Now, Actor: actor, Act: act, Subject: rota.JobSubject(j.ID),
		Schedule: j.Schedule, JobID: j.ID, ExecutionID: j.ExecutionID, Detail: detail, Changes: changes,
	}
	if j.Run != nil {
		e.RunID = j.Run.ID
	}
	if act == rota.AuditJobCancelled {
		e.Outcome = string(rota.OutcomeCancelled)
	}
	u.appendAudit(e)
}

// actorOf returns the actor of what a command does. A worker that reports the
// end of a run does not ask for what follows from it: Rota does that.
func actorOf(c rota.Command) string {
	if c.Verb() == rota.VerbFinish {
		return ""
	}
	return c.Head().Actor
}

// auditedSubject reports whether an earlier sending of the command wrote an
// audit entry about a named subject.
func (u *UnitOfWork) auditedSubject(c rota.Command, subject string) bool {
	return Audits.get(u, rota.AuditNameID(c.Head().ID, c.Verb(), subject))
}

// wantAuditedSubject asks for what auditedSubject reads.
func (u *UnitOfWork) wantAuditedSubject(c rota.Command, subject string) {
	Audits.want(u, rota.AuditNameID(c.Head().ID, c.Verb(), subject))
}

// auditSubject writes an audit entry about a named subject.
func (u *UnitOfWork) auditSubject(c rota.Command, act, subject, detail string, changes json.RawMessage) {
	u.auditName(c, subject, act, subject, detail, changes)
}

// auditSideEffect writes an audit entry about a subject that the command
// changes besides its own. The id of the entry contains the act, since one
// command may change a subject in several ways.
func (u *UnitOfWork) auditSideEffect(c rota.Command, act, subject, detail string, changes json.RawMessage) {
	u.auditName(c, act+" "+subject, act, subject, detail, changes)
}

// auditFired writes an audit entry about a schedule that a caller fired. It names the job if there is one.
func (u *UnitOfWork) auditFired(c rota.Command, schedule string, created []rota.ID) {
	subject := ScheduleSubject(schedule)
	e := u.nameEntry(c, subject, rota.AuditScheduleFired, subject, string(c.Verb()), nil)
	if len(created) == 1 {
		e.JobID, e.ExecutionID = created[0], created[0]
	}
	u.appendAudit(e)
}

func (u *UnitOfWork) auditName(c rota.Command, name, act, subject, detail string, changes json.RawMessage) {
	u.appendAudit(u.nameEntry(c, name, act, subject, detail, changes))
}

func (u *UnitOfWork) nameEntry(c rota.Command, name, act, subject, detail string, changes json.RawMessage) rota.AuditEntry {
	e := rota.AuditEntry{
		ID: rota.AuditNameID(c.Head().ID, c.Verb(), name), At: u.Now, Actor: actorOf(c), Act: act,
		Subject: subject, Detail: detail, Changes: changes,
	}
	if schedule, is := strings.CutPrefix(subject, ScheduleSubject("")); is {
		e.Schedule = schedule
	}
	return e
}

// appendAudit writes an entry, once: a command that is sent again and changes
// rows again adds no second one.
func (u *UnitOfWork) appendAudit(e rota.AuditEntry) {
	if written, known := Audits.peek(u, e.ID); known && written {
		return
	}
	e = e.WithDefaults()
	e.Detail = scrub.Text(e.Detail) // a reason or an error may contain a secret
	length := len(u.audit)
	u.onUndo(func() { u.audit = u.audit[:length] })
	Audits.set(u, e.ID, true)
	u.audit = append(u.audit, e)
}

// archive writes the entries that were derived from a job until now, and returns
// how many.
func (u *UnitOfWork) archive(j *rota.Job) int {
	entries := j.AuditEntries()
	for _, e := range entries {
		e.ID = u.archiveID(&e)
		u.appendAudit(e)
	}
	return len(entries)
}

// archiveID returns the id of an entry of a job for the audit. The audit has an
// entry with its own id if the job is the second one with its id: its command was
// sent again after the first one had been pruned.
func (u *UnitOfWork) archiveID(e *rota.AuditEntry) rota.ID {
	if !Audits.get(u, e.ID) {
		return e.ID
	}
	id := rota.AuditRepeatID(e.ID, e.At)
	Audits.get(u, id) // the same act at the same time is written once
	return id
}

// The documents whose fields are compared: the specification, and the state
// beside it.
type (
	typeDocument struct {
		Paused bool `json:"paused"`
		rota.TypeSpec
	}
	templateDocument struct {
		State rota.TemplateState `json:"state"`
		Owner string             `json:"owner,omitempty"`
		rota.TemplateSpec
	}
	scheduleDocument struct {
		State rota.ScheduleState `json:"state"`
		Owner string             `json:"owner,omitempty"`
		rota.ScheduleSpec
	}
	webhooksDocument struct {
		Webhooks []rota.Webhook `json:"webhooks"`
	}
	jobDocument struct {
		Priority int             `json:"priority"`
		Position int64           `json:"position"`
		RunAt    time.Time       `json:"run_at,omitzero"`
		Params   json.RawMessage `json:"params"`
	}
	paramsDocument struct {
		Params json.RawMessage `json:"params"`
	}
)

func typeChanges(was, is *rota.Type) json.RawMessage {
	return changesOf(was, is, func(t *rota.Type) any { return typeDocument{t.Paused, t.Spec} })
}

func templateChanges(was, is *rota.Template) json.RawMessage {
	return changesOf(was, is, func(t *rota.Template) any { return templateDocument{t.State, t.Owner, t.Spec} })
}

// scheduleChanges compares a schedule together with its template, since the
// template says what its jobs do. It reads no template that stays the same.
func scheduleChanges(u *UnitOfWork, was, is *rota.Schedule) json.RawMessage {
	sameTemplate := was != nil && is != nil && was.Spec.Template == is.Spec.Template
	encode := func(s *rota.Schedule) []byte {
		if s == nil {
			return nil
		}
		document := auditDocument(scheduleDocument{s.State, s.Owner, s.Spec})
		if sameTemplate {
			return document
		}
		return diff.WithTemplate(document, templateFields(Templates.get(u, s.Spec.Template)))
	}
	return diff.Documents(encode(was), encode(is))
}

// wantScheduleChanges asks for what scheduleChanges reads of a schedule that is
// removed or gets another template.
func wantScheduleChanges(u *UnitOfWork, was *rota.Schedule) { Templates.want(u, was.Spec.Template) }

// templateFields returns what a template contributes to its schedules.
func templateFields(t *rota.Template) []byte {
	if t == nil {
		return nil
	}
	return auditDocument(t.Spec)
}

func throttleChanges(was, is *rota.Throttle) json.RawMessage {
	return changesOf(was, is, func(t *rota.Throttle) any { return t.Spec })
}

func webhooksChanges(was, is *rota.Webhooks) json.RawMessage {
	return changesOf(was, is, func(h *rota.Webhooks) any { return webhooksDocument{h.Spec} })
}

func jobChanges(was, is *rota.Job) json.RawMessage {
	document := func(j *rota.Job) []byte { return auditDocument(jobDocument{j.Priority, j.Position, j.RunAt, j.Params}) }
	return diff.ByMember(document(was), document(is), "params")
}

// paramsChanges returns what a redrive changed of the params.
func paramsChanges(was, is *rota.Job) json.RawMessage {
	document := func(j *rota.Job) []byte { return auditDocument(paramsDocument{j.Params}) }
	return diff.ByMember(document(was), document(is), "params")
}

// auditDocument encodes a document for the audit: as it is stored, but with
// durations as the HTTP API shows them.
func auditDocument(document any) []byte {
	return diff.Durations(document, rota.EncodeSpec(document), rota.FormatDuration)
}

// changesOf returns the fields that differ; nil stands for a row that does not
// exist.
func changesOf[T any](was, is *T, document func(*T) any) json.RawMessage {
	encode := func(row *T) []byte {
		if row == nil {
			return nil
		}
		return auditDocument(document(row))
	}
	return diff.Documents(encode(was), encode(is))
}

// auditUsers writes that the schedules of a template have changed with it, and
// returns what the entry of the template says about them.
func auditUsers(u *UnitOfWork, c rota.Command, was, is *rota.Template) (detail string) {
	names := schedulesUsing(u, is.Name)
	changes := diff.Documents(diff.WithTemplate(nil, templateFields(was)), diff.WithTemplate(nil, templateFields(is)))
	if len(names) > rota.TemplateModifiedMax {
		names = names[:rota.TemplateModifiedMax]
		detail = "more than 100 schedules use it; only the first 100 have an entry JOB_MODIFIED of their own"
	}
	for _, name := range names {
		u.auditSideEffect(c, rota.AuditScheduleModified, ScheduleSubject(name), "template "+is.Name, changes)
	}
	return detail
}

func usersQuery(template string) TemplateSchedulesQuery {
	return TemplateSchedulesQuery{Template: template, Disabled: true, Limit: rota.TemplateModifiedMax + 1}
}

// schedulesUsing returns the schedules of a template by name, at most one more
// than get an entry. Schedules that were not loaded count as stored.
func schedulesUsing(u *UnitOfWork, template string) []string {
	names := slices.Clone(TemplateSchedules.get(u, usersQuery(template)))
	for r := range Schedules.of(u).changed() {
		names = append(names, r.key)
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		s, known := Schedules.peek(u, name)
		return known && (s == nil || s.Spec.Template != template)
	})
	return names[:min(len(names), rota.TemplateModifiedMax+1)]
}
