package model

import (
	"slices"

	"github.com/rotajobs/rota"
)

// What the audit calls the things it is about, besides jobs.
func typeSubject(name string) string       { return "type " + name }
func templateSubject(name string) string   { return "template " + name }
func scheduleSubject(name string) string   { return "schedule " + name }
func groupSubject(id rota.ID) string       { return "group " + id.String() }
func reservationSubject(id rota.ID) string { return "reservation " + id.String() }

const limitsSubject = "limits"

// auditJob adds a line about a job to the audit.
func (s *step) auditJob(act string, job rota.ID, detail string) {
	s.appendAudit(rota.AuditEntry{ID: s.auditID(job), Act: act, JobID: job, Detail: detail})
}

// auditSubject adds a line about something else.
func (s *step) auditSubject(act, subject, detail string) {
	s.appendAudit(rota.AuditEntry{ID: s.auditNameID(subject), Act: act, Subject: subject, Detail: detail})
}

// auditEffect adds a line about what the command did to something besides what it is
// about.
func (s *step) auditEffect(act, subject, detail string) {
	s.appendAudit(rota.AuditEntry{ID: s.auditNameID(act + " " + subject), Act: act, Subject: subject, Detail: detail})
}

// appendAudit writes a line once, however often its command is sent and finds something
// to do again.
func (s *step) appendAudit(e rota.AuditEntry) {
	if s.hasEntry(e.ID) {
		return
	}
	e.Seq, e.At, e.Actor = int64(len(s.audit)+1), s.now, s.actor()
	s.audit = append(s.audit, e)
}

// auditedJob says whether the command has written about a job before.
func (s *step) auditedJob(job rota.ID) bool { return s.hasEntry(s.auditID(job)) }

// auditedSubject says whether the command has written about something else before.
func (s *step) auditedSubject(subject string) bool { return s.hasEntry(s.auditNameID(subject)) }

func (s *step) hasEntry(id rota.ID) bool {
	return slices.ContainsFunc(s.audit, func(e rota.AuditEntry) bool { return e.ID == id })
}

func (s *step) auditID(job rota.ID) rota.ID { return rota.AuditID(s.id(), s.command.Verb(), job) }

func (s *step) auditNameID(subject string) rota.ID {
	return rota.AuditNameID(s.id(), s.command.Verb(), subject)
}
