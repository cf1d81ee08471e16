package rules

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
)

// Events of changes that callers make. The audit has an entry for each of them, with the
// fields that differ, so these events are derived from the audit entries of a step.

// editsByJob returns the entries about edited and moved jobs.
func (c *Changes) editsByJob() (edits map[rota.ID][]*rota.AuditEntry) {
	for i := range c.Audit {
		if e := &c.Audit[i]; e.Act == rota.AuditJobModified && !e.JobID.IsZero() {
			if edits == nil {
				edits = map[rota.ID][]*rota.AuditEntry{}
			}
			edits[e.JobID] = append(edits[e.JobID], e)
		}
	}
	return edits
}

// detailDue is the detail of the event of a job whose delay is over. It may still wait for
// something else.
const detailDue = "due"

// eachChange reports jobs that were edited or moved, or whose delay is over.
func eachChange(jobs []JobChange, edits map[rota.ID][]*rota.AuditEntry, job jobEventFunc) {
	for _, j := range jobs {
		entries := edits[j.Job.ID]
		for _, e := range entries {
			job(rota.EventJobChanged, j.Job, changedFields(e))
		}
		if j.Due && len(entries) == 0 {
			job(rota.EventJobChanged, j.Job, detailDue)
		}
	}
}

// definitionEvents maps what the audit records about definitions, limits, webhooks and access to
// the kind and the detail of its event. An empty detail stands for the names of the
// changed fields.
var definitionEvents = map[string]struct {
	kind   rota.EventKind
	detail string
}{
	rota.AuditTypeCreated:        {rota.EventTypeChanged, "created"},
	rota.AuditTypeModified:       {rota.EventTypeChanged, ""},
	rota.AuditTypePaused:         {rota.EventTypeChanged, "paused"},
	rota.AuditTypeResumed:        {rota.EventTypeChanged, "resumed"},
	rota.AuditTemplateCreated:    {rota.EventTemplateChanged, "created"},
	rota.AuditTemplateModified:   {rota.EventTemplateChanged, ""},
	rota.AuditTemplateArchived:   {rota.EventTemplateChanged, "archived"},
	rota.AuditTemplateUnarchived: {rota.EventTemplateChanged, "unarchived"},
	rota.AuditThrottleModified:   {rota.EventLimitsChanged, ""},
	rota.AuditWebhooksModified:   {rota.EventWebhooksChanged, ""},
	rota.AuditScheduleCreated:    {rota.EventScheduleChanged, "created"},
	rota.AuditScheduleModified:   {rota.EventScheduleChanged, ""},
	rota.AuditScheduleDeleted:    {rota.EventScheduleDeleted, ""},
	rota.AuditUserCreated:        {rota.EventAccessChanged, "created"},
	rota.AuditUserModified:       {rota.EventAccessChanged, ""},
	rota.AuditUserDropped:        {rota.EventAccessChanged, "dropped"},
	rota.AuditRoleCreated:        {rota.EventAccessChanged, "created"},
	rota.AuditRoleDropped:        {rota.EventAccessChanged, "dropped"},
	rota.AuditGranted:            {rota.EventAccessChanged, "granted"},
	rota.AuditRevoked:            {rota.EventAccessChanged, "revoked"},
	rota.AuditTokenCreated:       {rota.EventAccessChanged, "token created"},
	rota.AuditTokenRevoked:       {rota.EventAccessChanged, "token revoked"},
	rota.AuditSecretSet:          {rota.EventTemplateChanged, "secret set"},
	rota.AuditSecretDeleted:      {rota.EventTemplateChanged, "secret deleted"},
	rota.AuditSecretRotated:      {rota.EventAccessChanged, "secret key rotated"},
}

// eachDefinitionEvent reports changes of definitions, limits and webhooks, and removed
// history.
func (c *Changes) eachDefinitionEvent(other func(rota.Event)) {
	for i := range c.Audit {
		e := &c.Audit[i]
		known, is := definitionEvents[e.Act]
		if !is || !e.JobID.IsZero() { // the same acts of a job are events of the job
			continue
		}
		event := rota.Event{Kind: known.kind, Detail: known.detail}
		setSubject(&event, e.Subject)
		switch {
		case known.kind == rota.EventTypeChanged && rota.InternalType(event.Name):
			continue // users do not see it elsewhere either
		case e.Act == rota.AuditTokenCreated, e.Act == rota.AuditTokenRevoked:
			event.Name = c.userOfToken(event.Name)
		case known.kind == rota.EventScheduleDeleted:
			event.Detail = e.Detail
		case known.detail == "":
			event.Detail = changedFields(e)
		}
		other(event)
	}
	if n := len(c.RemovedJobs); n > 0 {
		other(rota.Event{Kind: rota.EventHistoryPruned, Detail: strconv.Itoa(n) + " jobs"})
	}
}

// userOfToken returns the user of a token that a step changes.
func (c *Changes) userOfToken(id string) string {
	for _, t := range AccessTokens.Changes(c) {
		if t.Key == id && t.Is != nil {
			return t.Is.User
		}
	}
	return ""
}

// setSubject sets the name that an event is about. Limits, webhooks and the key of all secrets have none.
func setSubject(event *rota.Event, subject string) {
	prefix, name, _ := strings.Cut(subject, " ")
	event.Name = name
	switch prefix {
	case "type":
		event.Type = name
	case "template":
		event.Template = name
	case "schedule":
		event.Schedule = name
	case "secret": // the key has no slash
		event.Name = name[:strings.LastIndexByte(name, '/')]
		event.Template = event.Name
	}
}

// changedFields names the fields that an audit entry says have changed. Members of
// params are not named: they are data of the job.
func changedFields(e *rota.AuditEntry) string {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(e.Changes, &fields) // no changes: no names
	names := slices.Sorted(maps.Keys(fields))
	for i, name := range names {
		if strings.HasPrefix(name, "params.") {
			names[i] = "params"
		}
	}
	return strings.Join(slices.Compact(names), ", ")
}
