package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/storetest/model"
)

// rowsEvery is the number of batches after which the rows are compared. Reading all rows costs
// more than most batches.
const rowsEvery = 4

// RandomAgainstModel sends the same random batches to the store and to the
// model, and wants the same answers and, every few batches and at the end, the
// same rows.
func RandomAgainstModel(t *testing.T, h Harness) {
	t.Helper()
	rapid.Check(t, func(rt *rapid.T) {
		s := h.Open(t)
		defer closeStore(rt, s)
		g := newGen(rt)
		modelEvents, storeEvents := watch(g.model), watch(s)
		rt.Repeat(map[string]func(*rapid.T){
			"batch": func(rt *rapid.T) {
				b := g.batch(rt)
				expected := g.apply(rt, b)
				compareAnswers(rt, s, b, expected)
				compareEvents(rt, b, modelEvents.take(), storeEvents.take())
				if len(g.sent)%rowsEvery == 0 {
					compareRows(rt, g.model, s)
				}
			},
		})
		compareRows(rt, g.model, s)
		compareLists(rt, g, s)
		compareStats(rt, g.model, s)
		if err := checkEventHistory(context.Background(), s, storeEvents.events); err != nil {
			rt.Errorf("events: %v", err)
		}
		wantUniqueAuditIDs(rt, s)
		if err := explainAll(context.Background(), s); err != nil {
			rt.Errorf("explain: %v", err)
		}
		if found := violations(context.Background(), s); found != "" {
			rt.Errorf("verify found:\n%s", found)
		}
	})
}

// compareLists wants the same dead letters, job lists and prunable executions, page by page,
// for a random retention.
func compareLists(rt *rapid.T, g *gen, s rota.Store) {
	keep := func(label string) rota.Keep {
		return rota.Keep{
			Age:   rapid.SampledFrom([]time.Duration{0, 0, time.Second, time.Hour}).Draw(rt, label+" age"),
			Count: rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(rt, label+" count"),
		}
	}
	q := rota.PruneQuery{Now: g.now, Limit: rapid.IntRange(1, 5).Draw(rt, "page")}
	q.Retention = rota.Retention{Completed: keep("completed"), Skipped: keep("skipped"), Cancelled: keep("cancelled"), Dead: keep("dead")}
	if diff := difference(lists(rt, g.model, q), lists(rt, s, q)); diff != "" {
		rt.Fatalf("the lists differ (- model, + store), keeping %+v:\n%s", q.Retention, diff)
	}
}

func lists(rt *rapid.T, s rota.Store, q rota.PruneQuery) string {
	var b strings.Builder
	dead, err := allJobs(context.Background(), s, rota.JobQuery{Dead: true, Limit: dumpPage})
	fmt.Fprintf(&b, "dead: %v %v\n", idsOf(dead), rota.CodeOf(err))
	for _, pick := range stateQueries(q.Limit) {
		jobs, err := allJobs(context.Background(), s, pick)
		fmt.Fprintf(&b, "%+v: %v %v\n", pick, idsOf(jobs), rota.CodeOf(err))
		found, err := foundJobs(context.Background(), s, pick)
		fmt.Fprintf(&b, "found: %v %v\n", idsOf(found), rota.CodeOf(err))
		count, err := s.CountJobs(context.Background(), pick)
		fmt.Fprintf(&b, "counted: %d %v\n", count, rota.CodeOf(err))
	}
	for _, pick := range []rota.AuditQuery{
		{Actor: "ada"},
		{Actor: rota.SystemActor},
		{Acts: []string{rota.AuditJobFailed, rota.AuditJobCancelled, rota.AuditJobStopping}},
		{Schedule: "x"},
		{Subject: "schedule x"},
		{Subject: "limits"},
		{Name: "x"},
		{UniqueKey: "k"},
		{ScopeID: "tenant"},
		{ErrorCode: "oops"},
		{Text: "ADA", Outcomes: []string{"FAILED", rota.AuditOK}},
	} {
		pick.Limit = q.Limit
		entries, err := auditPages(context.Background(), s, pick)
		fmt.Fprintf(&b, "%+v: %v\n", pick, rota.CodeOf(err))
		for _, e := range entries {
			fmt.Fprintf(&b, "  %s\n", auditText(&e))
		}
	}
	nexts, err := s.Schedules(context.Background(), rota.ScheduleQuery{ByNext: true})
	for _, one := range nexts {
		fmt.Fprintf(&b, "next: %s %s\n", one.Name, one.NextFire)
	}
	fmt.Fprintf(&b, "nexts: %v\n", rota.CodeOf(err))
	for {
		page, err := s.Prunable(context.Background(), q)
		if err != nil {
			rt.Fatalf("prunable: %v", err)
		}
		fmt.Fprintf(&b, "prunable: %v more %v\n", page.Executions, page.More)
		if !page.More {
			return b.String()
		}
		q.From = page.Next
	}
}

// wantUniqueAuditIDs wants no audit entry to be written twice. A command that is sent again after its
// job was pruned creates the job again. Until that one is pruned too, the entries that follow from it
// have the ids of the written ones.
func wantUniqueAuditIDs(rt *rapid.T, s rota.Store) {
	entries, err := wholeAudit(context.Background(), s)
	if err != nil {
		rt.Fatalf("audit: %v", err)
	}
	seen := map[rota.ID][]rota.AuditEntry{}
	for _, e := range entries {
		same := append(seen[e.ID], e)
		seen[e.ID] = same
		follows := e.ID == e.JobID || e.ID == rota.AuditEndID(e.JobID)
		if len(same) > 2 || len(same) == 2 && !follows {
			rt.Errorf("audit entries have one id: %v", same)
		}
	}
}

func closeStore(rt *rapid.T, s rota.Store) {
	if err := s.Close(); err != nil {
		rt.Errorf("close: %v", err)
	}
}

func compareAnswers(rt *rapid.T, s rota.Store, b rota.Batch, expected []rota.Result) {
	got, err := s.Apply(context.Background(), b)
	if err != nil {
		rt.Fatalf("apply: %v\n%s", err, batchText(b))
	}
	if diff := difference(Answers(expected), Answers(got)); diff != "" {
		rt.Fatalf("the answers differ (- model, + store):\n%s\n%s", diff, batchText(b))
	}
}

// compareEvents wants the same events for each subject of a batch.
func compareEvents(rt *rapid.T, b rota.Batch, expected, got []rota.Event) {
	if diff := difference(eventsText(groupBySubject(expected)), eventsText(groupBySubject(got))); diff != "" {
		rt.Fatalf("the events differ (- model, + store):\n%s\n%s", diff, batchText(b))
	}
}

func compareStats(rt *rapid.T, want, got rota.Store) {
	if diff := difference(statsText(rt, want), statsText(rt, got)); diff != "" {
		rt.Fatalf("the stats differ (- model, + store):\n%s", diff)
	}
}

func compareRows(rt *rapid.T, want, got rota.Store) {
	if diff := difference(mustDump(rt, want), mustDump(rt, got)); diff != "" {
		rt.Fatalf("the rows differ (-, +):\n%s", diff)
	}
}

func mustDump(rt *rapid.T, s rota.Store) string {
	d, err := Dump(context.Background(), s)
	if err != nil {
		rt.Fatalf("dump: %v", err)
	}
	return d
}

// batchText shows the commands of a batch that gave a wrong result.
func batchText(b rota.Batch) string {
	var out strings.Builder
	fmt.Fprintf(&out, "at %s\n", timeText(b.Now))
	for i, c := range b.Commands {
		doc, err := json.Marshal(c)
		if err != nil {
			doc = fmt.Appendf(nil, "%+v", c)
		}
		fmt.Fprintf(&out, "[%d] %s %s\n", i, c.Verb(), briefDocument(doc))
	}
	return out.String()
}

// briefDocument shortens the document of a command.
func briefDocument(doc []byte) string {
	const most = 4 << 10
	if len(doc) > most {
		return string(doc[:most]) + "…"
	}
	return string(doc)
}

// Replay sends one random log to two new stores, to the second with every batch split in two.
// Both must give the same answers and hold the same rows, because only the commands and their
// times may matter.
func Replay(t *testing.T, h Harness) {
	t.Helper()
	rapid.Check(t, func(rt *rapid.T) {
		log := randomLog(rt)
		whole, halves := h.Open(t), h.Open(t)
		defer closeStore(rt, whole)
		defer closeStore(rt, halves)
		for _, b := range log {
			first := replay(rt, whole, b)
			mid := len(b.Commands) / 2
			second := replay(rt, halves, rota.Batch{Now: b.Now, Commands: b.Commands[:mid]})
			second = append(second, replay(rt, halves, rota.Batch{Now: b.Now, Commands: b.Commands[mid:]})...)
			if diff := difference(Answers(first), Answers(second)); diff != "" {
				rt.Fatalf("a batch (-) and its halves (+) are answered differently:\n%s\n%s", diff, batchText(b))
			}
		}
		compareRows(rt, whole, halves)
	})
}

func replay(rt *rapid.T, s rota.Store, b rota.Batch) []rota.Result {
	if len(b.Commands) == 0 {
		return nil
	}
	results, err := s.Apply(context.Background(), b)
	if err != nil {
		rt.Fatalf("apply: %v\n%s", err, batchText(b))
	}
	return results
}

// logMax limits the batches of a log. Replay applies each of them three times, and short logs
// find what it looks for.
const logMax = 12

func randomLog(rt *rapid.T) []rota.Batch {
	return RandomLog(rt, rapid.IntRange(1, logMax).Draw(rt, "batches"))
}

// RandomLog generates batches whose later commands refer to results of earlier ones.
func RandomLog(rt *rapid.T, batches int) []rota.Batch {
	g := newGen(rt)
	for range batches {
		g.apply(rt, g.batch(rt))
	}
	return g.sent
}

// newGen begins a random history with a new model.
func newGen(rt *rapid.T) *gen {
	return &gen{t: rt, now: startTime, model: model.New(time.Now)}
}

// apply applies a batch to the model and learns from the answers.
func (g *gen) apply(rt *rapid.T, b rota.Batch) []rota.Result {
	results, err := g.model.Apply(context.Background(), b)
	if err != nil {
		rt.Fatalf("the model: %v", err)
	}
	g.sent = append(g.sent, b)
	for _, r := range results {
		g.learn(r.Reply)
	}
	return results
}
