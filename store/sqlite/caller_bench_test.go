package sqlite

import (
	"context"
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

// BenchmarkCallerEnqueue enqueues a job in a transaction that also inserts a row of the caller.
func BenchmarkCallerEnqueue(b *testing.B) {
	s := openTest(b, Config{})
	db := openCaller(b, s, "?_pragma=busy_timeout(5000)")
	db.SetMaxOpenConns(1)
	b.Run("ApplyTx", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tx, err := db.Begin()
			must(b, err)
			execTx(b, tx, `INSERT INTO orders (text) VALUES ('one')`)
			applyTx(b, s, tx, enqueue(rota.NewJob{Type: "mail"}))
			must(b, tx.Commit())
		}
	})
	b.Run("Raw", func(b *testing.B) {
		b.ReportAllocs()
		job := queued(b, s, 1)[0]
		for b.Loop() {
			tx, err := db.Begin()
			must(b, err)
			execTx(b, tx, `INSERT INTO orders (text) VALUES ('one')`)
			job.ID = rota.NewID()
			job.ExecutionID = job.ID
			var p parameters
			bindNewJob(&p, job)
			execTx(b, tx, rewriteForCaller(sqlInsertJob), p.list...)
			must(b, tx.Commit())
		}
	})
}

func BenchmarkCallerCommitToWake(b *testing.B) {
	s := openTest(b, Config{})
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
