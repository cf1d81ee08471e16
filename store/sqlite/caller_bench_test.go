package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func BenchmarkEnqueue(b *testing.B) {
	s := openTest(b, Config{})
	b.ReportAllocs()
	for b.Loop() {
		_, err := s.Apply(context.Background(), rota.Batch{Commands: []rota.Command{enqueue(rota.NewJob{Type: "mail"})}})
		must(b, err)
	}
}

func BenchmarkEnqueueClaimFinish(b *testing.B) {
	s := openTest(b, Config{})
	b.ReportAllocs()
	apply := func(c rota.Command) rota.Reply {
		r, err := s.Apply(context.Background(), rota.Batch{Commands: []rota.Command{c}})
		must(b, err)
		if r[0].Err != nil {
			b.Fatal(r[0].Err)
		}
		return r[0].Reply
	}
	for b.Loop() {
		apply(enqueue(rota.NewJob{Type: "mail"}))
		j := apply(claim(1)).(*rota.Claimed).Jobs[0]
		apply(&rota.Finish{Meta: rota.NewMeta("ada"), Items: []rota.FinishItem{{LeaseRef: lease(j), Outcome: rota.OutcomeCompleted}}})
	}
}

// BenchmarkCallerEnqueue enqueues a job in a transaction that also inserts a row of the caller: with
// ApplyTx, and, interleaved, with the statement that inserts the same row. It reports the medians.
func BenchmarkCallerEnqueue(b *testing.B) {
	s := openOnDisk(b)
	db := openCaller(b, s, "?_pragma=busy_timeout(5000)")
	db.SetMaxOpenConns(1)
	job := queued(b, s, 1)[0]
	inTx := func(enqueue func(*sql.Tx)) time.Duration {
		start := time.Now()
		tx, err := db.Begin()
		must(b, err)
		execTx(b, tx, `INSERT INTO orders (text) VALUES ('one')`)
		enqueue(tx)
		must(b, tx.Commit())
		return time.Since(start)
	}
	var applied, raw []time.Duration
	for b.Loop() {
		applied = append(applied, inTx(func(tx *sql.Tx) { applyTx(b, s, tx, enqueue(rota.NewJob{Type: "mail"})) }))
		raw = append(raw, inTx(func(tx *sql.Tx) {
			job.ID = rota.NewID()
			job.ExecutionID = job.ID
			var p parameters
			bindNewJob(&p, job)
			execTx(b, tx, rewriteForCaller(sqlInsertJob), p.list...)
		}))
	}
	b.ReportMetric(float64(median(applied).Microseconds()), "µs/ApplyTx")
	b.ReportMetric(float64(median(raw).Microseconds()), "µs/raw")
	b.ReportMetric(float64(median(raw))/float64(median(applied)), "raw/ApplyTx")
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func BenchmarkCallerCommitToWake(b *testing.B) {
	s := openOnDisk(b)
	db := openCaller(b, s, "?_pragma=busy_timeout(5000)")
	db.SetMaxOpenConns(1)
	wake, stop := s.Wake()
	defer stop()
	var total time.Duration
	n := 0
	for b.Loop() {
		tx, err := db.Begin()
		must(b, err)
		applyTx(b, s, tx, enqueue(rota.NewJob{Type: "mail"}))
		must(b, tx.Commit())
		at := time.Now()
		<-wake
		total += time.Since(at)
		n++
	}
	b.ReportMetric(float64(total.Microseconds())/float64(n), "µs/wake")
}

// openOnDisk opens a store on a disk, where a commit takes the time of a sync.
func openOnDisk(b *testing.B) *Store {
	s, err := OpenWith(filepath.Join(b.TempDir(), "rota.db"), Config{})
	must(b, err)
	b.Cleanup(func() { _ = s.Close() })
	return s
}
