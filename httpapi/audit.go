package httpapi

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
	"github.com/rotajobs/rota/cron"
)

func (a *server) auditRoutes() {
	get(a, operation{
		method: "GET", path: "/audit", id: "list-audit", tag: "Server", summary: "List audit entries",
		description: "Newest first. A page examines a bounded number of rows: with a filter it may have fewer entries than the limit, or none, " +
			"although more follow; continue until next_cursor is null.",
		query: pageParams(
			param{name: "since", form: formTime, doc: "Only entries at or after this time."},
			param{name: "until", form: formTime, doc: "Only entries before this time."},
			param{name: "actor", form: formText, doc: "Actor."},
			param{name: "act", form: formText, doc: "Acts, separated by commas.", example: "JOB_FAILED,JOB_CANCELLED"},
			param{name: "subject", form: formText, doc: "Subject.", example: "schedule nightly"},
			param{name: "schedule", form: formName, doc: "Entries about this schedule and about its jobs."},
			param{name: "execution", form: formID, doc: "Entries about the jobs of this execution."},
		), response: api.List[api.AuditEntry]{},
	}, listAudit)
}

func listAudit(c *call) (reply, error) {
	position, err := c.position(cursorAudit)
	if err != nil {
		return reply{}, err
	}
	since, err := c.queryTime("since")
	if err != nil {
		return reply{}, err
	}
	until, err := c.queryTime("until")
	if err != nil {
		return reply{}, err
	}
	ask := rota.AuditQuery{
		Since: since, Until: until, Actor: c.query.Get("actor"), Subject: c.query.Get("subject"),
		Schedule: c.query.Get("schedule"), ExecutionID: c.queryID("execution"), Before: auditAt(position), Limit: c.limit(),
	}
	if acts := c.query.Get("act"); acts != "" {
		ask.Acts = strings.Split(acts, ",")
	}
	found, err := c.Store.Audit(c.ctx, ask)
	if err != nil {
		return reply{}, err
	}
	page := api.List[api.AuditEntry]{Items: []api.AuditEntry{}}
	for _, e := range found.Entries {
		page.Items = append(page.Items, api.NewAuditEntry(e))
	}
	if found.More {
		page.NextCursor = cursorOf(cursorAudit, auditPosition(found.Next))
	}
	return ok(page)
}

// queryTime returns a time of the query; zero: it is not given.
func (c *call) queryTime(name string) (time.Time, error) {
	if !c.query.Has(name) {
		return time.Time{}, nil
	}
	at, err := cron.ParseTime(c.query.Get(name), time.UTC)
	if err != nil {
		return at, problem.Malformed(name, "%.64q is not a time; write it like 2026-11-15T07:00:00Z", c.query.Get(name))
	}
	return at, nil
}

// auditPosition encodes a place in the audit: microseconds, then an id.
func auditPosition(at rota.AuditCursor) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(at.At.UnixMicro())), at.ID[:]...)
}

// auditAt decodes a place in the audit; nil is the start of the list.
func auditAt(position []byte) (at rota.AuditCursor) {
	if position != nil {
		at.At = time.UnixMicro(int64(binary.BigEndian.Uint64(position))).UTC()
		copy(at.ID[:], position[8:])
	}
	return at
}
