package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// auditPaging has many entries of one time from each source.
func auditPaging(y *story) {
	jobs := y.enqueueMany(9)
	y.throttle(rota.ThrottleSpec{Global: 100})
	for _, j := range y.claim(6) {
		y.complete(j)
	}
	y.declare("nightly", rota.ScheduleSpec{})
	y.prune(jobs[0].ID, jobs[3].ID)
	y.advance(time.Second)
	y.cancel(jobs[8].ID)
	for _, q := range []rota.AuditQuery{{}, {Actor: "ada"}, {Acts: []string{rota.AuditJobCreated}}, {Until: y.now}, {Since: y.now}} {
		q.Limit = 1000
		whole := y.audit(q)
		sorted := slices.IsSortedFunc(whole, func(a, b rota.AuditEntry) int { return b.Compare(&a) })
		want(y, "newest first", sorted, true)
		for _, q.Limit = range []int{1, 2, 3, 5, 17, 0} {
			got := y.audit(q)
			text := func(e rota.AuditEntry) string { return auditText(&e) }
			want(y, fmt.Sprintf("pages of %d", q.Limit), joinNames(got, text), joinNames(whole, text))
		}
	}
	want(y, "entries", len(y.audit(rota.AuditQuery{})), 9+6+1+2+1) // creations, ends, limits, template and schedule, cancellation
}

func auditFilters(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	first := y.now
	y.advance(time.Second)
	j := y.trigger("nightly")
	y.complete(y.claimOne())
	second := y.now
	y.advance(time.Second)
	c := y.enqueueCommand(rota.NewJob{Type: "mail"})
	c.Actor = "eve"
	own := do[*rota.Enqueued](y, c).Jobs[0].Job
	y.advance(time.Second)
	keyed := y.running(rota.NewJob{Type: "mail", UniqueKey: "k", ScopeKind: "user", ScopeID: "7", Backoff: ptr(time.Duration(0)), Priority: new(5)})
	y.mustFinish(keyed, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "Disk FULL", ErrorCode: "disk"})
	again := y.claimOne()
	y.cancel(again.ID)
	failed := "JOB_FAILED:FAILED"
	third := y.now
	for _, one := range []struct {
		q    rota.AuditQuery
		acts string
	}{
		{rota.AuditQuery{Since: second, Until: third}, "JOB_CREATED JOB_EXECUTED:COMPLETED JOB_TRIGGERED"},
		{rota.AuditQuery{Until: second}, "JOB_CREATED TEMPLATE_CREATED"},
		{rota.AuditQuery{Since: second, Until: second.Add(time.Microsecond), Acts: []string{rota.AuditJobFailed}}, "none"},
		{rota.AuditQuery{Actor: "eve"}, "JOB_CREATED"},
		{rota.AuditQuery{Actor: "bob"}, "none"},
		{rota.AuditQuery{Acts: []string{rota.AuditTemplateCreated}}, "TEMPLATE_CREATED"},
		{rota.AuditQuery{Subject: "schedule nightly", Until: second}, "JOB_CREATED"},
		{rota.AuditQuery{Subject: "job nightly"}, "none"},
		{rota.AuditQuery{Subject: rota.JobSubject(own.ID)}, "JOB_CREATED"},
		{rota.AuditQuery{Subject: rota.JobSubject(own.ID), Actor: "ada"}, "none"},
		{rota.AuditQuery{Schedule: "nightly", Until: second}, "JOB_CREATED"},
		{rota.AuditQuery{ExecutionID: j.ID}, "JOB_EXECUTED:COMPLETED JOB_TRIGGERED"},
		{rota.AuditQuery{ExecutionID: own.ID, Acts: []string{rota.AuditJobCreated}}, "JOB_CREATED"},
		{rota.AuditQuery{ExecutionID: y.ids.next()}, "none"},
		{rota.AuditQuery{Until: first}, "none"},
		{rota.AuditQuery{ExecutionID: again.ID}, "JOB_CREATED JOB_STOPPING " + failed},
		{rota.AuditQuery{UniqueKey: "k"}, "JOB_CREATED JOB_STOPPING " + failed},
		{rota.AuditQuery{ScopeKind: "user", ScopeID: "7", Outcomes: []string{"FAILED"}}, failed},
		{rota.AuditQuery{ScopeKind: "user", ScopeID: "8"}, "none"},
		{rota.AuditQuery{ErrorCode: "disk", Acts: []string{rota.AuditJobFailed}}, failed},
		{rota.AuditQuery{Name: "nightly"}, "JOB_CREATED JOB_EXECUTED:COMPLETED JOB_TRIGGERED"},
		{rota.AuditQuery{Name: "mail", Outcomes: []string{"FAILED"}}, failed},
		{rota.AuditQuery{Text: "disk full", Outcomes: []string{"FAILED"}}, failed},
		{rota.AuditQuery{Text: "EVE"}, "JOB_CREATED"},
		{rota.AuditQuery{Text: "no such text"}, "none"},
	} {
		names := strings.Fields(acts(y.audit(one.q)))
		slices.Sort(names) // entries of one time are sorted by id, which this story does not choose
		wanted := strings.Fields(one.acts)
		slices.Sort(wanted)
		want(y, fmt.Sprintf("%+v", one.q), strings.Join(names, " "), strings.Join(wanted, " "))
	}
}

func auditBounded(y *story) {
	c := y.enqueueCommand(rota.NewJob{Type: "mail"})
	c.Actor = "eve"
	old := do[*rota.Enqueued](y, c).Jobs[0].Job
	y.advance(time.Second)
	y.enqueueMany(rota.PageMax + 200)
	found, pages := []rota.AuditEntry{}, 0
	for q := (rota.AuditQuery{Actor: "eve", Limit: 10}); ; pages++ {
		page, err := y.s.Audit(y.ctx, q)
		page = must(y, "audit", page, err)
		found = append(found, page.Entries...)
		if !page.More {
			break
		}
		q.Before = page.Next
	}
	if len(found) != 1 || found[0].JobID != old.ID || pages > 5 {
		y.Errorf("%d pages have %v", pages, found)
	}
}

func auditInvalid(y *story) {
	for field, q := range map[string]rota.AuditQuery{
		"act": {Acts: []string{"JOB_SWALLOWED"}}, "limit": {Limit: rota.PageMax + 1}, "schedule": {Schedule: "no name"},
		"actor": {Actor: strings.Repeat("x", rota.NameMax+1)}, "subject": {Subject: "\xff"},
		"outcome": {Outcomes: []string{"LOST"}}, "name": {Name: "no name"}, "q": {Text: "\x00"}, "scope_id": {ScopeID: strings.Repeat("x", rota.KeyMax+1)},
	} {
		_, err := y.s.Audit(y.ctx, q)
		refusal := &rota.Error{}
		if !errors.As(err, &refusal) || refusal.Code != rota.Invalid || refusal.Field != field {
			y.Errorf("%s: %v", field, err)
		}
	}
}
