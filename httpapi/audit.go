package httpapi

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func (a *server) auditRoutes() {
	get(a, operation{
		method: "GET", path: "/audit", id: "list-audit", scope: readScope, tag: "Server", summary: "List audit entries",
		description: "Newest first. A page examines a bounded number of rows: with a filter it may have fewer entries than the limit, or none, " +
			"although more follow; continue until next_cursor is null.",
		query: pageParams(append([]param{
			{name: "state", form: formText, list: true, enum: auditStates, doc: "Outcomes in either case, separated by commas; ok is that of an act that is not the end of a run."},
			{name: "actor", form: formName, doc: "Actor."},
			{name: "act", form: formText, list: true, enum: rota.AuditActs, doc: "Acts in either case, separated by commas.", example: "JOB_FAILED,JOB_CANCELLED"},
			{name: "subject", form: formName, doc: "Subject.", example: "schedule nightly"},
			{name: "schedule", form: formName, doc: "Entries about this schedule and about its jobs."},
			{name: "execution", form: formID, doc: "Entries about the jobs of this execution; the id of any of its jobs."},
		}, auditDetails()...)...), response: api.List[api.AuditEntry]{},
	}, listAudit)
}

// auditStates are the outcomes of entries in lower case, as states are written.
var auditStates = func() (words []string) {
	for _, outcome := range rota.AuditOutcomes {
		words = append(words, strings.ToLower(outcome))
	}
	return words
}()

// auditDetails are the filters that the audit shares with jobs.
func auditDetails() []param {
	params := detailParams("Entries")
	for i := range params {
		switch params[i].name {
		case "since", "until":
		case "name":
			params[i].doc = "Entries about the type, template or schedule of this name, and about jobs with this name."
		case "q":
			params[i].doc = "Part of the actor, act, subject, schedule or detail, or of a text of the job that q of GET /jobs compares. The case of the letters A to Z is ignored."
		default:
			params[i].doc = strings.TrimSuffix(params[i].doc, ".") + " of the job, while it is kept."
		}
	}
	return params
}

func listAudit(c *call) (reply, error) {
	position, err := c.position(cursorAudit)
	if err != nil {
		return reply{}, err
	}
	f, err := c.jobFilter()
	if err != nil {
		return reply{}, err
	}
	ask := rota.AuditQuery{
		Since: f.since, Until: f.until, Actor: c.query.Get("actor"), Subject: c.query.Get("subject"),
		Schedule: f.schedule, ExecutionID: f.execution, Before: auditAt(position), Limit: c.limit(),
		Name: f.name, UniqueKey: f.uniqueKey, ScopeKind: f.scopeKind, ScopeID: f.scopeID, ErrorCode: f.errorCode, Text: f.text,
	}
	for _, state := range f.states {
		ask.Outcomes = append(ask.Outcomes, strings.ToUpper(state))
	}
	ask.Acts = c.words("act")
	found, err := c.Store.Audit(c.ctx, ask)
	if err != nil {
		return reply{}, asMalformed(err)
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
