package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
)

// newEntries returns the audit entries that a command has added.
func newEntries(before, after *state) (entries []rota.AuditEntry) {
	for _, e := range after.audit {
		if !slices.ContainsFunc(before.audit, func(b rota.AuditEntry) bool { return b.ID == e.ID }) {
			entries = append(entries, e)
		}
	}
	return entries
}

// changeEvents returns an event for each edit and move of a job, or one if its delay is over.
func changeEvents(was, is *rota.Job, audit []rota.AuditEntry) (events []rota.Event) {
	for _, e := range audit {
		if e.Act == "JOB_MODIFIED" && e.JobID == is.ID {
			event := jobEvent(rota.EventJobChanged, is)
			event.Detail = fieldsOf(e)
			events = append(events, event)
		}
	}
	if len(events) == 0 && is.Status == rota.StatusQueued && was.Hold&rota.HoldDelay != 0 && is.Hold&rota.HoldDelay == 0 {
		event := jobEvent(rota.EventJobChanged, is)
		event.Detail = "due"
		events = append(events, event)
	}
	return events
}

// accessEvents returns the event of an entry about a user, a role or a token.
func accessEvents(s *state, e rota.AuditEntry) []rota.Event {
	kind, name, _ := strings.Cut(e.Subject, " ")
	prefix, act, _ := strings.Cut(e.Act, "_")
	event := rota.Event{Kind: rota.EventAccessChanged, Name: name, Detail: strings.ToLower(act)}
	switch {
	case prefix == "USER" || prefix == "ROLE":
	case prefix == "GRANTED" || prefix == "REVOKED":
		event.Detail = strings.ToLower(prefix)
	case prefix == "TOKEN":
		event.Name, event.Detail = s.token(name).User, kind+" "+event.Detail
	}
	if act == "MODIFIED" {
		event.Detail = fieldsOf(e)
	}
	return []rota.Event{event}
}

// definitionEvents returns the event of an entry about a definition, the limits, the webhooks or access.
func definitionEvents(after *state, e rota.AuditEntry) []rota.Event {
	kind, name, _ := strings.Cut(e.Subject, " ")
	switch {
	case e.Act == "LOGIN" || e.Act == "LOGIN_FAILED" || e.Act == "ACCESS_DENIED" || e.Act == "RUN_AS" || e.Act == "TOKEN_PRUNED":
		return nil
	case kind == "user" || kind == "role" || kind == "token":
		return accessEvents(after, e)
	}
	if kind == "secret" {
		template := name[:strings.LastIndex(name, "/")]
		_, act, _ := strings.Cut(e.Act, "_")
		return []rota.Event{{Kind: rota.EventTemplateChanged, Name: template, Template: template, Detail: "secret " + strings.ToLower(act)}}
	}
	if e.Act == "SECRET_ROTATED" {
		return []rota.Event{{Kind: rota.EventAccessChanged, Detail: "secret key rotated"}}
	}
	event := rota.Event{Kind: rota.EventKind(kind + ".changed"), Name: name}
	switch kind {
	case "type":
		if rota.InternalType(name) {
			return nil
		}
		event.Type = name
	case "template":
		event.Template = name
	case "schedule":
		event.Schedule = name
	case "limits", "webhooks":
	default:
		return nil
	}
	_, act, _ := strings.Cut(e.Act, "_")
	switch {
	case e.Act == "SCHEDULE_DISABLED" || e.Act == "SCHEDULE_MISSED" || e.Act == "JOB_TRIGGERED":
		return nil
	case act == "DELETED":
		event.Kind, event.Detail = rota.EventScheduleDeleted, e.Detail
	case act == "MODIFIED":
		event.Detail = fieldsOf(e)
	default:
		event.Detail = strings.ToLower(act)
	}
	return []rota.Event{event}
}

// fieldsOf names the fields that an entry says have changed.
func fieldsOf(e rota.AuditEntry) string {
	changes := map[string]any{}
	_ = json.Unmarshal(e.Changes, &changes)
	var names []string
	for name := range changes {
		if strings.HasPrefix(name, "params.") {
			name = "params"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// pruneEvents returns an event if the command has removed jobs.
func pruneEvents(before, after *state) []rota.Event {
	removed := before.pick(func(j *rota.Job) bool { return after.find(j.ID) == nil })
	if len(removed) == 0 {
		return nil
	}
	return []rota.Event{{Kind: rota.EventHistoryPruned, Detail: fmt.Sprintf("%d jobs", len(removed))}}
}
