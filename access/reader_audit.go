package access

import (
	"context"
	"strings"

	"github.com/rotajobs/rota"
)

// Audit shows an administrator all entries, and a user the entries about definitions and jobs whose history it may see,
// and about its own acts.
func (r *reader) Audit(ctx context.Context, q rota.AuditQuery) (rota.AuditPage, error) {
	if err := r.allow("Audit"); err != nil {
		return rota.AuditPage{}, err
	}
	if r.seesEverything() {
		return r.from.Audit(ctx, q)
	}
	limit := limitOf(q.Limit)
	var found rota.AuditPage
	for hidden, most := 0, hiddenMaxOf(searchesAudit(q)); hidden < most; {
		page, err := r.from.Audit(ctx, q)
		if err != nil {
			return rota.AuditPage{}, err
		}
		for i := range page.Entries {
			sees, err := r.seesEntry(ctx, &page.Entries[i])
			if err != nil {
				return rota.AuditPage{}, err
			}
			if sees {
				page.Entries[i].Changes = withoutWebhooks(page.Entries[i].Changes)
				found.Entries = append(found.Entries, page.Entries[i])
			} else {
				hidden++
			}
		}
		found.Next, found.More = page.Next, page.More
		if n := len(found.Entries); n > limit {
			found.Entries, found.More = found.Entries[:limit], true
			last := found.Entries[limit-1]
			found.Next = rota.AuditCursor{At: last.At, ID: last.ID}
		}
		if !found.More || len(found.Entries) >= limit {
			break
		}
		q.Before = page.Next
		q.Limit = min(2*limitOf(q.Limit), rota.PageMax)
	}
	return found, nil
}

// searchesAudit reports whether a query compares values of entries that a user could guess.
func searchesAudit(q rota.AuditQuery) bool {
	return q.OfJob() || q.Actor != "" || len(q.Acts) > 0 || q.Subject != "" || q.Schedule != ""
}

// seesEntry reports whether an entry is visible.
func (r *reader) seesEntry(ctx context.Context, e *rota.AuditEntry) (bool, error) {
	kind, name := subjectOf(e)
	switch {
	case !r.reaches(name):
		return false, nil
	case e.Actor == r.user && !e.At.Before(r.since):
		return true, nil
	case kind == kindJob:
		return r.seesEntryOfJob(ctx, e)
	case kind != kindTemplate && kind != kindSchedule:
		return false, nil // about access, limits, webhooks, types, groups, reservations
	}
	return r.seesEntryOf(ctx, kind, name, e)
}

// seesEntryOf reports whether the history of the definition of an entry is visible. An entry that is older than the
// definition is about an earlier one of the same name.
func (r *reader) seesEntryOf(ctx context.Context, kind, name string, e *rota.AuditEntry) (bool, error) {
	if r.viewsAll() {
		return true, nil
	}
	o, err := r.objects.get(ctx, kind, name)
	if err != nil {
		return false, err
	}
	return o.exists && !e.At.Before(o.since) && r.may(rota.ViewJobHistory, o), nil
}

// seesEntryOfJob reports whether the job of an entry is visible. If the job was pruned, its schedule decides, and what
// changed is hidden: whose rights the job ran with is not known any more.
func (r *reader) seesEntryOfJob(ctx context.Context, e *rota.AuditEntry) (bool, error) {
	if r.viewsAll() {
		return true, nil
	}
	j, err := r.from.Job(ctx, e.JobID)
	if err == nil {
		return r.seesJob(ctx, j)
	}
	if rota.CodeOf(err) != rota.NotFound || e.Schedule == "" {
		return false, notFoundIsNil(err)
	}
	e.Changes = nil
	return r.seesEntryOf(ctx, kindSchedule, e.Schedule, e)
}

// kindJob is the kind of entries about jobs.
const kindJob = "job"

// subjectOf splits the subject of an entry: "schedule nightly".
func subjectOf(e *rota.AuditEntry) (kind, name string) {
	kind, name, _ = strings.Cut(e.Subject, " ")
	if kind == kindJob {
		name = e.Schedule
	}
	return kind, name
}
