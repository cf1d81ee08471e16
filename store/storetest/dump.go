package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
)

// dumpPage is small enough that the dump of a busy store needs several pages.
const dumpPage = 50

// Dump returns the canonical text of everything that can be read through the contract: each job
// with its run, the order of the queue, definitions, groups and reservations, when maintenance
// is due, and the audit. Two stores with the same rows have equal dumps. Intent records and the
// recent starts of a rate cannot be read; a dump shows only whether there is something to
// sweep.
func Dump(ctx context.Context, s rota.Store) (string, error) {
	var b text
	for _, part := range []func(context.Context, rota.Store, *text) error{
		dumpJobs, dumpDeclared, dumpThrottle, dumpWebhooks, dumpGroups, dumpReservations, dumpAccess, dumpSecrets, dumpDue, dumpAudit,
	} {
		if err := part(ctx, s, &b); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func dumpJobs(ctx context.Context, s rota.Store, b *text) error {
	jobs, err := allJobs(ctx, s, rota.JobQuery{Limit: dumpPage})
	if err != nil {
		return err
	}
	deliveries, err := allJobs(ctx, s, rota.JobQuery{Type: rota.TypeWebhook, Limit: dumpPage})
	if err != nil {
		return err
	}
	for _, j := range append(jobs, deliveries...) {
		b.job("", j)
	}
	queue, err := wholeQueue(ctx, s)
	for i, j := range queue {
		b.line("", fmt.Sprintf("queue %d", i), j.ID.String())
	}
	return err
}

// dumpDeclared writes types, templates and schedules.
func dumpDeclared(ctx context.Context, s rota.Store, b *text) error {
	named := func(after string) rota.NameQuery { return rota.NameQuery{After: after, Limit: dumpPage} }
	err := eachPage("", func(after string) ([]*rota.Type, error) { return s.Types(ctx, named(after)) },
		func(t *rota.Type) string { b.typ("", t); return t.Name })
	if err != nil {
		return err
	}
	err = eachPage("", func(after string) ([]*rota.Template, error) { return s.Templates(ctx, named(after)) },
		func(t *rota.Template) string { b.template("", t); return t.Name })
	if err != nil {
		return err
	}
	return eachPage("", func(after string) ([]*rota.Schedule, error) {
		return s.Schedules(ctx, rota.ScheduleQuery{After: after, Limit: dumpPage})
	}, func(d *rota.Schedule) string { b.schedule("", d); return d.Name })
}

func dumpThrottle(ctx context.Context, s rota.Store, b *text) error {
	limits, err := s.Throttle(ctx)
	if err != nil {
		return err
	}
	b.throttle("", limits)
	return nil
}

func dumpWebhooks(ctx context.Context, s rota.Store, b *text) error {
	hooks, err := s.Webhooks(ctx)
	if err != nil {
		return err
	}
	b.webhooks("", hooks)
	return nil
}

func dumpGroups(ctx context.Context, s rota.Store, b *text) error {
	return eachPage(rota.ID{}, func(before rota.ID) ([]*rota.Group, error) { return s.Groups(ctx, before, dumpPage) },
		func(g *rota.Group) rota.ID { b.group("", g); return g.ID })
}

func dumpReservations(ctx context.Context, s rota.Store, b *text) error {
	return eachPage(rota.ID{}, func(before rota.ID) ([]*rota.Reservation, error) { return s.Reservations(ctx, before, dumpPage) },
		func(r *rota.Reservation) rota.ID { b.reservation("", r); return r.ID })
}

// dumpAccess writes users, roles and tokens.
func dumpAccess(ctx context.Context, s rota.Store, b *text) error {
	state, err := s.AccessState(ctx)
	if err != nil {
		return err
	}
	b.line("", "access state", state.Version.String())
	b.line("", "newest access", timeText(state.Newest))
	err = eachPage("", func(after string) ([]*rota.Principal, error) {
		return s.Principals(ctx, rota.NameQuery{After: after, Limit: dumpPage})
	}, func(p *rota.Principal) string { b.principal("", p); return p.Name })
	if err != nil {
		return err
	}
	return eachPage("", func(after string) ([]*rota.AccessToken, error) {
		return s.AccessTokens(ctx, rota.TokenQuery{After: after, Limit: dumpPage})
	}, func(t *rota.AccessToken) string { b.token("", t); return t.ID })
}

func dumpSecrets(ctx context.Context, s rota.Store, b *text) error {
	state, err := s.SecretState(ctx)
	if err != nil {
		return err
	}
	b.line("", "secret keys", fmt.Sprintf("primary %s needed %v", state.Primary, state.Needed))
	return eachPage(rota.SecretName{}, func(after rota.SecretName) ([]*rota.Secret, error) {
		return s.Secrets(ctx, rota.SecretQuery{After: after, Limit: dumpPage})
	}, func(one *rota.Secret) rota.SecretName {
		b.secret("", one)
		return rota.SecretName{Template: one.Template, Key: one.Key}
	})
}

func dumpDue(ctx context.Context, s rota.Store, b *text) error {
	due, err := s.NextDue(ctx)
	if err != nil {
		return err
	}
	b.due(due)
	return nil
}

func dumpAudit(ctx context.Context, s rota.Store, b *text) error {
	entries, err := wholeAudit(ctx, s)
	if err != nil {
		return err
	}
	for _, e := range entries {
		b.line("", "audit "+e.ID.String(), auditText(&e))
	}
	return nil
}

// eachPage reads a list page by page. Visit writes a row and returns the position after which
// the next page begins.
func eachPage[Row, Mark any](from Mark, read func(Mark) ([]*Row, error), visit func(*Row) Mark) error {
	for {
		rows, err := read(from)
		if err != nil {
			return err
		}
		for _, r := range rows {
			from = visit(r)
		}
		if len(rows) < dumpPage {
			return nil
		}
	}
}

// foundJobs returns the jobs of all pages of a search.
func foundJobs(ctx context.Context, s rota.Store, q rota.JobQuery) (all []*rota.Job, err error) {
	for {
		page, err := s.FindJobs(ctx, q)
		all = append(all, page.Jobs...)
		if err != nil || !page.More {
			return all, err
		}
		q.Before = page.Next
	}
}

// allJobs reads every page of a query.
func allJobs(ctx context.Context, s rota.Store, q rota.JobQuery) ([]*rota.Job, error) {
	var all []*rota.Job
	for {
		jobs, err := s.Jobs(ctx, q)
		if err != nil || len(jobs) == 0 {
			return all, err
		}
		all = append(all, jobs...)
		if len(jobs) < q.Limit {
			return all, nil
		}
		if last := jobs[len(jobs)-1].ID; q.Oldest {
			q.After = last
		} else {
			q.Before = last
		}
	}
}

func wholeQueue(ctx context.Context, s rota.Store) ([]*rota.Job, error) {
	var all []*rota.Job
	var after rota.ID
	for {
		jobs, err := s.Queue(ctx, after, dumpPage)
		if err != nil || len(jobs) == 0 {
			return all, err
		}
		all = append(all, jobs...)
		if len(jobs) < dumpPage {
			return all, nil
		}
		after = jobs[len(jobs)-1].ID
	}
}

func auditText(e *rota.AuditEntry) string {
	detail := e.Detail
	if strings.HasPrefix(detail, "lease expired:") || detail == "its process ended while it ran" {
		detail = "" // each store words this error itself
	}
	return fmt.Sprintf("%s %s %s by %q about %q of %q: job %s execution %s run %s %s %s %s", e.ID, timeText(e.At), e.Act, e.Actor, e.Subject, e.Schedule,
		e.JobID, e.ExecutionID, e.RunID, e.Outcome, brief(detail), e.Changes)
}

// wholeAudit reads every page of the audit and returns the entries oldest first.
func wholeAudit(ctx context.Context, s rota.Store) ([]rota.AuditEntry, error) {
	all, err := auditPages(ctx, s, rota.AuditQuery{Limit: dumpPage})
	slices.Reverse(all)
	return all, err
}

// auditPages reads every page of a query.
func auditPages(ctx context.Context, s rota.Reader, q rota.AuditQuery) (all []rota.AuditEntry, err error) {
	for {
		page, err := s.Audit(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Entries...)
		if !page.More {
			return all, nil
		}
		q.Before = page.Next
	}
}

// difference shows where two texts differ, with the lines before it. It is empty if they are
// equal.
func difference(want, got string) string {
	if want == got {
		return ""
	}
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	head := 0
	for head < len(w) && head < len(g) && w[head] == g[head] {
		head++
	}
	tail := 0
	for tail < len(w)-head && tail < len(g)-head && w[len(w)-1-tail] == g[len(g)-1-tail] {
		tail++
	}
	var b strings.Builder
	for _, l := range w[max(0, head-30):head] {
		fmt.Fprintf(&b, "    %s\n", l)
	}
	writeLimited(&b, "  - ", w[head:len(w)-tail])
	writeLimited(&b, "  + ", g[head:len(g)-tail])
	return b.String()
}

func writeLimited(b *strings.Builder, mark string, lines []string) {
	const shown = 60
	for i, l := range lines {
		if i == shown {
			fmt.Fprintf(b, "%s… %d more lines\n", mark, len(lines)-shown)
			return
		}
		fmt.Fprintf(b, "%s%s\n", mark, l)
	}
}

// violations returns what Verify finds, as text. It is empty if there is no violation.
func violations(ctx context.Context, s rota.Store) string {
	var b strings.Builder
	for v, err := range s.Verify(ctx) {
		if err != nil {
			fmt.Fprintf(&b, "verify: %v\n", err)
			continue
		}
		fmt.Fprintf(&b, "%s: %s %v\n", v.Check, v.Detail, v.Rows)
	}
	return b.String()
}
