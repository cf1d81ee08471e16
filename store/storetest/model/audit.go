package model

import (
	"slices"

	"github.com/rotajobs/rota"
)

// What the audit calls the things it is about, besides jobs.
func ofType(name string) string       { return "type " + name }
func ofTemplate(name string) string   { return "template " + name }
func ofSchedule(name string) string   { return "schedule " + name }
func ofGroup(id rota.ID) string       { return "group " + id.String() }
func ofReservation(id rota.ID) string { return "reservation " + id.String() }

const ofLimits = "limits"

// write adds a line about a job to the audit.
func (s *step) write(act string, job rota.ID, detail string) {
	s.log(rota.AuditEntry{ID: s.auditID(job), Act: act, JobID: job, Detail: detail})
}

// writeOf adds a line about something else.
func (s *step) writeOf(act, subject, detail string) {
	s.log(rota.AuditEntry{ID: s.auditNameID(subject), Act: act, Subject: subject, Detail: detail})
}

// noteOf adds a line about what the command did to something besides what it is
// about.
func (s *step) noteOf(act, subject, detail string) {
	s.log(rota.AuditEntry{ID: s.auditNameID(act + " " + subject), Act: act, Subject: subject, Detail: detail})
}

// log writes a line once, however often its command is sent and finds something
// to do again.
func (s *step) log(e rota.AuditEntry) {
	if s.hasEntry(e.ID) {
		return
	}
	e.Seq, e.At, e.Actor = int64(len(s.audit)+1), s.now, s.actor()
	s.audit = append(s.audit, e)
}

// wrote says whether the command has written about a job before.
func (s *step) wrote(job rota.ID) bool { return s.hasEntry(s.auditID(job)) }

// wroteOf says whether the command has written about something else before.
func (s *step) wroteOf(subject string) bool { return s.hasEntry(s.auditNameID(subject)) }

func (s *step) hasEntry(id rota.ID) bool {
	return slices.ContainsFunc(s.audit, func(e rota.AuditEntry) bool { return e.ID == id })
}

func (s *step) auditID(job rota.ID) rota.ID { return rota.AuditID(s.id(), s.command.Verb(), job) }

func (s *step) auditNameID(subject string) rota.ID {
	return rota.AuditNameID(s.id(), s.command.Verb(), subject)
}
