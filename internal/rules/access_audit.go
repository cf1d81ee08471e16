package rules

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
)

// What the audit says about access. Passwords, verifiers, hashes and the names of certificates are never
// in it, only whether they are set and that they changed.

// auditChange is a field of an audit entry that differs.
type auditChange struct {
	Old any `json:"old"`
	New any `json:"new"`
}

// auditChanges encodes fields that differ. It does not use package diff, which hides every field that is called
// password, even if it contains no more than "set".
func auditChanges(fields map[string]auditChange) json.RawMessage {
	if len(fields) == 0 {
		return nil
	}
	return rota.EncodeSpec(fields)
}

// credentialChanges says which credentials of a principal were set, changed or removed, and what a dropped principal had; nil
// stands for a principal that does not exist.
func credentialChanges(was, is *rota.Principal) json.RawMessage {
	fields := map[string]auditChange{}
	spec := func(p *rota.Principal) rota.PrincipalSpec {
		if p == nil {
			return rota.PrincipalSpec{}
		}
		return p.Spec
	}
	old, next := spec(was), spec(is)
	addCredential(fields, "password", old.Verifier, next.Verifier)
	addCredential(fields, "certificate", old.Certificate, next.Certificate)
	if was != nil && is == nil {
		addDropped(fields, "roles", len(old.Roles), func(i int) string { return old.Roles[i].Role })
		addDropped(fields, "grants", len(old.Grants), func(i int) string { return grantText(old.Grants[i].Privilege, old.Grants[i].Job) })
	}
	return auditChanges(fields)
}

func addCredential(fields map[string]auditChange, name, old, next string) {
	switch {
	case old == next:
	case old == "":
		fields[name] = auditChange{New: "set"}
	case next == "":
		fields[name] = auditChange{Old: "set"}
	default:
		fields[name] = auditChange{Old: "set", New: "changed"}
	}
}

// droppedMax is how many roles and how many grants the entry about a dropped principal lists.
const droppedMax = 100

func addDropped(fields map[string]auditChange, name string, count int, one func(int) string) {
	if count == 0 {
		return
	}
	var list []string
	for i := range min(count, droppedMax) {
		list = append(list, one(i))
	}
	if count > droppedMax {
		list = append(list, fmt.Sprintf("and %d more", count-droppedMax))
	}
	fields[name] = auditChange{Old: list}
}

// grantText is a privilege in the audit: "EXECUTE JOB on nightly".
func grantText(p rota.Privilege, job string) string {
	if job == "" {
		return string(p)
	}
	return string(p) + " on " + job
}

// grantedDetail is the detail of the entry about privileges that were granted or revoked.
func grantedDetail(privileges []rota.Privilege, job string) string {
	names := make([]string, len(privileges))
	for i, p := range privileges {
		names[i] = string(p)
	}
	return grantText(rota.Privilege(strings.Join(names, ", ")), job)
}

// grantChanges says what was granted or revoked.
func grantChanges(field, detail string, revoke bool) json.RawMessage {
	if revoke {
		return auditChanges(map[string]auditChange{field: {Old: detail}})
	}
	return auditChanges(map[string]auditChange{field: {New: detail}})
}

func tokenSubject(id string) string { return "token " + id }

func tokenDetail(t *rota.AccessToken) string { return "user " + t.User + ", scope " + string(t.Scope) }

// tokenChanges says what a new token may do and until when.
func tokenChanges(t *rota.AccessToken) json.RawMessage {
	fields := map[string]auditChange{"user": {New: t.User}, "scope": {New: t.Scope}}
	for name, value := range map[string]string{"type": t.Type, "job": t.Job} {
		if value != "" {
			fields[name] = auditChange{New: value}
		}
	}
	if !t.ExpiresAt.IsZero() {
		fields["expires_at"] = auditChange{New: t.ExpiresAt.UTC()}
	}
	return auditChanges(fields)
}

// decideRecordAccess writes security events into the audit, each once: the id of an entry is derived from the command
// and the number of the record.
func decideRecordAccess(u *UnitOfWork, c *rota.RecordAccess) (rota.Reply, *rota.Error) {
	ids := make([]rota.ID, len(c.Records))
	for i := range c.Records {
		ids[i] = rota.AuditNameID(c.ID, c.Verb(), "record "+strconv.Itoa(i))
		Audits.want(u, ids[i])
	}
	reply := &rota.AccessRecorded{}
	for i, id := range ids {
		if Audits.get(u, id) {
			continue
		}
		r := &c.Records[i]
		e := rota.AuditEntry{
			ID: id, At: u.Now, Actor: r.Actor, Act: r.Act, Subject: r.Subject, Schedule: r.Schedule, JobID: r.JobID, ExecutionID: r.ExecutionID, RunID: r.RunID,
			Detail: recordDetail(r),
		}
		if r.Act == rota.AuditLoginFailed || r.Act == rota.AuditAccessDenied {
			e.Outcome = rota.AuditDenied
		}
		u.appendAudit(e)
		reply.Recorded++
	}
	return reply, nil
}

// recordDetail is the detail of a record, with its count in front: "12 times; wrong password".
func recordDetail(r *rota.AccessRecord) string {
	if r.Count <= 1 {
		return r.Detail
	}
	times := strconv.Itoa(r.Count) + " times"
	if r.Detail == "" {
		return times
	}
	return times + "; " + r.Detail
}
