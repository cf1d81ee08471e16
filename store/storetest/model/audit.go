package model

import (
	"slices"

	"github.com/rotajobs/rota"
)

// Subjects of audit entries that are not about jobs.
func typeSubject(name string) string       { return "type " + name }
func templateSubject(name string) string   { return "template " + name }
func scheduleSubject(name string) string   { return "schedule " + name }
func groupSubject(id rota.ID) string       { return "group " + id.String() }
func reservationSubject(id rota.ID) string { return "reservation " + id.String() }

const limitsSubject = "limits"

// auditJob adds an entry about a job.
func (s *step) auditJob(act string, job rota.ID, detail string) {
	s.appendAudit(rota.AuditEntry{ID: s.auditID(job), Act: act, JobID: job, Detail: detail})
}

// auditAttempt adds an entry about a job that the command names by the id of an earlier attempt.
func (s *step) auditAttempt(act string, named, job rota.ID, detail string) {
	s.appendAudit(rota.AuditEntry{ID: s.auditID(named), Act: act, JobID: job, Detail: detail})
}

// auditSubject adds an entry about the subject of the command.
func (s *step) auditSubject(act, subject, detail string) {
	s.appendAudit(rota.AuditEntry{ID: s.auditNameID(subject), Act: act, Subject: subject, Detail: detail})
}

// auditEffect adds an entry about a side effect of the command.
func (s *step) auditEffect(act, subject, detail string) {
	s.appendAudit(rota.AuditEntry{ID: s.auditNameID(act + " " + subject), Act: act, Subject: subject, Detail: detail})
}

// appendAudit adds an entry once. A command that is sent again and changes rows again adds no
// second one.
func (s *step) appendAudit(e rota.AuditEntry) {
	if s.hasEntry(e.ID) {
		return
	}
	e.Seq, e.At, e.Actor = int64(len(s.audit)+1), s.now, s.actor()
	s.audit = append(s.audit, e)
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
