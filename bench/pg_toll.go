package main

import (
	"context"
	"time"
)

// The tails mark what the server did.
const (
	serverTail = "/server"
	logTail    = "/wal"
)

// toll is what something took of this process and its children, and of the
// server. What the server does in the background falls on whom it meets.
type toll struct {
	spent
	server time.Duration // of a processor
	logged int64         // bytes of the write-ahead log
}

// measure adds what an act takes, with the processor time of other processes
// that act for it.
func (t *toll) measure(ctx context.Context, s *pgServer, others []int, act func() error) error {
	before, err := readToll(ctx, s, others)
	if err != nil {
		return err
	}
	if err := t.spent.measure(act); err != nil {
		return err
	}
	after, err := readToll(ctx, s, others)
	t.processor += after.processor - before.processor
	t.server += after.server - before.server
	t.logged += after.logged - before.logged
	return err
}

func readToll(ctx context.Context, s *pgServer, others []int) (t toll, err error) {
	for _, pid := range others {
		used, err := processorOf(pid)
		if err != nil {
			return t, err
		}
		t.processor += used
	}
	if t.logged, err = s.logged(ctx); err != nil {
		return t, err
	}
	t.server, err = s.processor()
	return t, err
}

// addToll notes how many jobs a second a subject managed, and what each took of
// the processors and of the log.
func (r *report) addToll(caseName, subject string, jobs int, t toll) {
	each := float64(jobs)
	r.add(caseName, subject, "throughput", each/t.wall.Seconds(), "jobs/s")
	r.add(caseName+processorTail, subject, "processor time of the client", t.processor.Seconds()*1e6/each, "µs/job")
	r.add(caseName+serverTail, subject, "processor time of the server", t.server.Seconds()*1e6/each, "µs/job")
	r.add(caseName+logTail, subject, "write-ahead log", float64(t.logged)/each, "bytes/job")
}
