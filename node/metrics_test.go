package node

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/internal/buffertx"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

// scrape returns the metrics in text form, one line for each value.
func scrape(t *testing.T, m *metricSet) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.handler(quiet).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if answer.Code != 200 {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	return "\n" + answer.Body.String()
}

func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line+"\n") {
			name, _, _ := strings.Cut(line, " ")
			name, _, _ = strings.Cut(name, "{")
			t.Errorf("no line %q in\n%s", line, linesOf(text, name))
		}
	}
}

func linesOf(text, name string) string {
	var found []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, name) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}

func TestEventsAreCounted(t *testing.T) {
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	m := newMetricSet()
	newEventCounter(m).countEvents([]rota.Event{
		{Kind: rota.EventJobEnqueued, Type: "mail", Attempt: 1, At: at},
		{Kind: rota.EventJobStarted, Type: "mail", DueAt: at, QueuedAt: at.Add(time.Millisecond), At: at.Add(1500 * time.Microsecond)},
		{Kind: rota.EventJobFailed, Type: "mail", At: at},
		{Kind: rota.EventJobEnqueued, Type: "mail", Attempt: 2, At: at},
		{Kind: rota.EventJobStarted, Type: "mail", DueAt: at.Add(time.Hour), At: at}, // the clock was set back
		{Kind: rota.EventJobFailed, Type: "mail", ErrorCode: rota.CodeLeaseExpired},
		{Kind: rota.EventJobDead, Type: "mail"},
		{Kind: rota.EventJobCompleted, Type: "noop"},
		{Kind: rota.EventJobSkipped, Type: "noop"},
		{Kind: rota.EventJobCancelled, Type: "noop"},
		{Kind: rota.EventJobFailed, Type: "slow", ErrorCode: rota.CodeTimeout},
		{Kind: rota.EventScheduleFired, PlanTime: at, At: at.Add(30 * time.Millisecond)},
		{Kind: rota.EventScheduleMissed},
		{Kind: rota.EventGroupFinished},
		{Kind: rota.EventJobCompleted, Type: "slow", StartedAt: at, At: at.Add(3 * time.Second)},
		{Kind: rota.EventJobFailed, Type: "slow", StartedAt: at, At: at.Add(-time.Hour)}, // the clock was set back
	})
	wantLines(t, scrape(t, m),
		`rota_enqueued_total{type="mail"} 2`, `rota_started_total{type="mail"} 2`, `rota_retries_total{type="mail"} 1`,
		`jobs_failed_total{type="mail"} 2`, `rota_finished_total{outcome="failed",type="mail"} 2`,
		`rota_finished_total{outcome="completed",type="noop"} 1`, `rota_finished_total{outcome="skipped",type="noop"} 1`,
		`rota_finished_total{outcome="cancelled",type="noop"} 1`, `jobs_failed_total{type="noop"} 0`,
		`rota_finished_total{outcome="failed",type="slow"} 2`, `jobs_failed_total{type="slow"} 2`, `rota_dead_letters_total{type="mail"} 1`,
		`rota_lease_losses_total 1`, `rota_schedule_missed_total 1`,
		`job_run_latency_ms_count 2`, `job_run_latency_ms_sum 1.5`, `job_run_latency_ms_bucket{le="1"} 1`, `job_run_latency_ms_bucket{le="2"} 2`,
		`rota_schedule_fire_lateness_seconds_sum 0.03`,
		`rota_run_seconds_count{type="slow"} 2`, `rota_run_seconds_sum{type="slow"} 3`, `rota_run_seconds_bucket{type="slow",le="5"} 2`,
		`rota_run_seconds_count{type="mail"} 0`,
		`rota_webhook_deliveries_total{result="delivered"} 0`,
	)
}

// TestWebhookDeliveriesAreCountedSeparately: internal jobs do not count as jobs
// of users.
func TestWebhookDeliveriesAreCountedSeparately(t *testing.T) {
	m := newMetricSet()
	newEventCounter(m).countEvents([]rota.Event{
		{Kind: rota.EventJobEnqueued, Type: rota.TypeWebhook, Attempt: 1},
		{Kind: rota.EventJobStarted, Type: rota.TypeWebhook},
		{Kind: rota.EventJobCompleted, Type: rota.TypeWebhook},
		{Kind: rota.EventJobFailed, Type: rota.TypeWebhook},
		{Kind: rota.EventJobFailed, Type: rota.TypeWebhook, ErrorCode: rota.CodeTimeout},
		{Kind: rota.EventJobFailed, Type: rota.TypeWebhook, ErrorCode: rota.CodeLeaseExpired},
		{Kind: rota.EventJobDead, Type: rota.TypeWebhook, ErrorCode: rota.CodeLeaseExpired},
		{Kind: rota.EventJobCancelled, Type: rota.TypeWebhook, ErrorCode: rota.CodeCancelled},
	})
	text := scrape(t, m)
	wantLines(t, text, `rota_webhook_deliveries_total{result="delivered"} 1`, `rota_webhook_deliveries_total{result="failed"} 3`,
		`rota_webhook_deliveries_total{result="given_up"} 1`, `rota_lease_losses_total 1`, `job_run_latency_ms_count 0`)
	if strings.Contains(text, rota.TypeWebhook) {
		t.Errorf("deliveries are counted as jobs:\n%s", text)
	}
}

func TestTypesBeyondLimitAreCountedAsOther(t *testing.T) {
	m := newMetricSet()
	c := newEventCounter(m)
	for i := range 3 * typesMax {
		c.countEvents([]rota.Event{{Kind: rota.EventJobEnqueued, Type: fmt.Sprintf("type-%d", i)}})
	}
	text := scrape(t, m)
	wantLines(t, text, fmt.Sprintf(`rota_enqueued_total{type="other"} %d`, 2*typesMax))
	if n := strings.Count(text, "\nrota_enqueued_total{"); n != typesMax+1 {
		t.Errorf("%d labels", n)
	}
	if n := strings.Count(text, "\nrota_run_seconds_count{"); n != timedTypesMax+1 {
		t.Errorf("%d labels of rota_run_seconds", n)
	}
}

// An error of the transaction of a caller does not show that the store cannot be written.
func TestStoreMonitorRecordsTransactionsOfCallers(t *testing.T) {
	file, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	txs := buffertx.New(t, file, func(path string) (rota.Store, error) {
		return sqlite.OpenWith(path, sqlite.Config{AllowMoved: true})
	})
	m := newMetricSet()
	var broken error
	store := newStoreMonitor(wrap.Flaky(txs, wrap.Fault{Before: func(rota.Batch) error { return broken }}), m)
	client, tx := rota.New(wrap.Coalesce(store), rota.WithChecker(nil)), txs.Begin()
	if _, err := client.EnqueueTx(t.Context(), tx, txPayload{}); err != nil { // declares its type in a batch of its own
		t.Fatal(err)
	}
	broken = &rota.Error{Code: rota.Unavailable, Reason: "the connection was lost"}
	if _, err := client.EnqueueTx(t.Context(), tx, txPayload{}); rota.CodeOf(err) != rota.Unavailable || store.writable() != nil {
		t.Errorf("%v; writable returns %v", err, store.writable())
	}
	wantLines(t, scrape(t, m), `rota_store_batch_commands_count 3`, `rota_store_apply_seconds_count 3`, `rota_store_errors_total{code="unavailable"} 1`)
}

type txPayload struct{}

func (txPayload) JobType() string { return "work" }

func TestStoreMonitorRecordsBatchesAndErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rota.db")
	if _, err := fileSize(path)(); err == nil {
		t.Error("a missing file has a size")
	}
	file, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m := newMetricSet()
	var broken error
	store := newStoreMonitor(wrap.Flaky(file, wrap.Fault{Before: func(rota.Batch) error { return broken }}), m)
	m.registry.MustRegister(&gauges{
		store: store, pool: func() engine.Snapshot { return engine.Snapshot{Workers: 4, Running: 3, Abandoned: 1} }, version: "1.2.3",
		size: func() (int64, error) { return 4096, nil }, events: func() uint64 { return 17 },
	})
	m.setPolls(5)
	send := func() error {
		_, err := rota.Do[*rota.Enqueued](t.Context(), store, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "mail"}, {Type: "mail"}}})
		return err
	}
	if err := send(); err != nil || store.writable() != nil {
		t.Fatal(err, store.writable())
	}
	wantLines(t, scrape(t, m), `rota_store_batch_commands_count 1`, `rota_store_apply_seconds_count 1`,
		`rota_store_errors_total{code="unavailable"} 0`, `scheduler_queue_depth 2`, `jobs_running 0`, `rota_jobs{state="queued"} 2`, `rota_jobs{state="dead"} 0`,
		`rota_pool_slots 4`, `rota_pool_busy 3`, `rota_pool_abandoned 1`, `rota_webhook_pending 0`,
		`rota_leader 1`, `rota_nodes 1`, `rota_store_bytes 4096`, `rota_feed_events_total 17`, `rota_worker_polls 5`,
		`rota_build_info{go_version="`+runtime.Version()+`",version="1.2.3"} 1`)

	info, err := os.Stat(path)
	if size, sizeErr := fileSize(path)(); err != nil || sizeErr != nil || size <= info.Size() { // the rows are still in the write-ahead log
		t.Errorf("the store has %d bytes, %v; its file %d, %v", size, sizeErr, info.Size(), err)
	}

	broken = &rota.Error{Code: rota.Unavailable, Reason: "the disk is full"}
	if err := send(); !errors.Is(err, broken) || !errors.Is(store.writable(), broken) {
		t.Errorf("%v; writable returns %v", err, store.writable())
	}
	wantLines(t, scrape(t, m), `rota_store_errors_total{code="unavailable"} 1`)
	full := broken
	broken = nil
	if _, err := rota.Do[*rota.Reaped](t.Context(), store, &rota.Reap{Meta: rota.NewMeta("")}); err != nil || !errors.Is(store.writable(), full) {
		t.Errorf("a batch that wrote nothing: %v; writable returns %v", err, store.writable())
	}
	store.probedAt = time.Time{} // allow the next probe
	if err := store.writable(); err != nil {
		t.Errorf("when there is space again: %v", err)
	}
}

func TestClusterGauges(t *testing.T) {
	file, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	m := newMetricSet()
	m.registry.MustRegister(&gauges{
		store: file, pool: func() engine.Snapshot { return engine.Snapshot{} },
		leader: func() bool { return false }, nodes: func() int { return 3 },
		size: func() (int64, error) { return 0, errors.New("gone") },
	})
	text := scrape(t, m)
	wantLines(t, text, `rota_leader 0`, `rota_nodes 3`, `scheduler_queue_depth 0`)
	for _, absent := range []string{"rota_store_bytes", "rota_feed_events_total"} {
		if linesOf(text, absent) != "" {
			t.Errorf("%s is exported without a source", absent)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	m = newMetricSet()
	m.registry.MustRegister(&gauges{store: file, pool: func() engine.Snapshot { return engine.Snapshot{Workers: 2} }})
	text = scrape(t, m) // a store that cannot be read does not hide other metrics
	wantLines(t, text, `rota_pool_slots 2`, `rota_leader 1`, `rota_lease_losses_total 0`)
	if linesOf(text, "scheduler_queue_depth") != "" {
		t.Error("scheduler_queue_depth is exported although the store cannot be read")
	}
}

// TestHangingStoreIsNotWritable: a batch that started long ago makes the store not writable.
func TestHangingStoreIsNotWritable(t *testing.T) {
	store := newStoreMonitor(nil, newMetricSet())
	long := time.Now().Add(-stuckAfter - time.Second)
	store.begin(&long)
	if err := store.writable(); err == nil || !strings.Contains(err.Error(), "not answered for 21s") {
		t.Errorf("%v", err)
	}
	store.end(&long, t.Context(), nil)
	if err := store.writable(); err != nil {
		t.Errorf("after the batch has ended: %v", err)
	}
}

// BenchmarkCount measures counting one event, during which the store waits.
func BenchmarkCount(b *testing.B) {
	at := time.Now()
	events := []rota.Event{
		{Kind: rota.EventJobEnqueued, Type: "mail", Attempt: 1, At: at},
		{Kind: rota.EventJobStarted, Type: "mail", DueAt: at, At: at.Add(3 * time.Millisecond)},
		{Kind: rota.EventJobCompleted, Type: "mail", At: at},
	}
	c := newEventCounter(newMetricSet())
	for b.Loop() {
		c.countEvents(events)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/event")
}
