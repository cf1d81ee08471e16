package main

import (
	"context"
	"time"
)

// The suffixes of cases that measure the server.
const (
	serverTail = "/server"
	totalTail  = "/total" // client and server
	logTail    = "/wal"
)

// cost is the resource use of this process, its children and the server. It includes the
// background work of the server during the measurement.
type cost struct {
	usage
	server time.Duration // processor time of the server
	logged int64         // bytes of write-ahead log
}

// measure adds the cost of a function, with the processor time of other processes that work
// for it.
func (t *cost) measure(ctx context.Context, s *pgServer, others []int, work func() error) error {
	before, err := readCost(ctx, s, others)
	if err != nil {
		return err
	}
	if err := t.usage.measure(work); err != nil {
		return err
	}
	after, err := readCost(ctx, s, others)
	t.processor += after.processor - before.processor
	t.server += after.server - before.server
	t.logged += after.logged - before.logged
	return err
}

func readCost(ctx context.Context, s *pgServer, others []int) (t cost, err error) {
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

// addCost reports the jobs per second of a subject, and the processor time and log per job.
func (r *report) addCost(caseName, subject string, jobs int, t cost) {
	each := float64(jobs)
	r.add(caseName, subject, "throughput", each/t.wall.Seconds(), "jobs/s")
	r.add(caseName+processorTail, subject, "processor time of the client", t.processor.Seconds()*1e6/each, "µs/job")
	r.add(caseName+serverTail, subject, "processor time of the server", t.server.Seconds()*1e6/each, "µs/job")
	r.add(caseName+totalTail, subject, "processor time of client and server", (t.processor+t.server).Seconds()*1e6/each, "µs/job")
	r.add(caseName+logTail, subject, "write-ahead log", float64(t.logged)/each, "bytes/job")
}
