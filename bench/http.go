package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/payload"
	"github.com/rotajobs/rota/store/sqlite"
)

const (
	httpCase        = "http/enqueue"
	httpConnections = 32
	httpJobs        = 5000 // in a part
	httpLeast       = 5000 // jobs per second
)

// What the server does with the jobs.
const (
	httpKept = "rota"
	httpRun  = "rota, running them"
)

func httpBenchmarks() []benchmark {
	return []benchmark{{
		cases: []string{httpCase, httpCase + medianTail, httpCase + worstTail},
		bars:  []bar{{caseName: httpCase, subject: httpKept, least: httpLeast}},
		run:   runHTTP,
	}}
}

// runHTTP enqueues single jobs through the API: of a type that no worker handles, and of a type that the server runs at
// the same time.
func runHTTP(b *bench) error {
	b.report.explain(httpCase+": what is timed", fmt.Sprintf(
		"POST /api/v1/jobs with one job of %d bytes of params, checked against a schema, over %d persistent connections,\n"+
			"each with one request at a time, to a server in a separate process. The answer is sent after the sync.\n"+
			"%q are jobs of the type noop, which the same server runs at the same time.", paramBytes, httpConnections, httpRun))
	return b.compare(httpCase, httpSubject(b, httpKept, jobType), httpSubject(b, httpRun, "noop"))
}

func httpSubject(b *bench, name, typ string) subject {
	path, each := b.file("http-"+typ), b.sized(httpJobs/httpConnections, 2)
	jobs := parts * each * httpConnections
	var s *server
	var callers []*caller
	var took usage
	var used time.Duration // processor time of the server
	return subject{
		name: name,
		open: func() (err error) {
			if err = declareBench(b.ctx, path); err == nil {
				s, err = b.serve("http-"+typ, path)
			}
			if err == nil {
				callers, err = dialAll(s, httpConnections, httpRequest{"/jobs", s.token, fmt.Sprintf(`{"type":%q,"params":%s}`, typ, paramsText())})
			}
			return err
		},
		part: func(context.Context) error {
			before, err := processorOf(s.child.Process.Pid)
			if err == nil {
				err = took.measure(func() error { return callAll(callers, each) })
			}
			if err != nil {
				return err
			}
			after, err := processorOf(s.child.Process.Pid)
			used += after - before
			return err
		},
		close: func(ctx context.Context) error {
			defer b.drop(path)
			var times []time.Duration
			for _, c := range callers {
				times = append(times, c.times...)
				_ = c.conn.Close()
			}
			b.report.add(httpCase, name, "throughput", float64(jobs)/took.wall.Seconds(), "jobs/s")
			b.report.add(httpCase+processorTail, name, "processor time of the server", used.Seconds()*1e6/float64(jobs), "µs/job")
			b.report.addTimes(httpCase, name, "answer", times)
			return errors.Join(s.stop(), auditHTTP(ctx, path, jobs))
		},
	}
}

// declareBench creates a store with the type of the benchmark jobs.
func declareBench(ctx context.Context, path string) error {
	schema, err := payload.Schema(benchJob{})
	if err != nil {
		return err
	}
	return withStore(path, func(store *sqlite.Store) error {
		_, err := apply[*rota.TypePut](ctx, store, &rota.PutType{
			Meta: rota.NewMeta(""), Name: jobType, Spec: rota.TypeSpec{Schema: schema},
		})
		return err
	})
}

// auditHTTP checks that each job exists exactly once, in any state.
func auditHTTP(ctx context.Context, path string, jobs int) error {
	got, err := count(path)
	if err == nil && got.queued+got.running+got.completed != jobs {
		err = fmt.Errorf("the file holds %+v, not %d jobs", got, jobs)
	}
	if err != nil {
		return err
	}
	return verify(ctx, path)
}

func dialAll(s *server, n int, r httpRequest) ([]*caller, error) {
	callers := make([]*caller, n)
	for i := range callers {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			return nil, err
		}
		callers[i] = newCaller(conn, s, r)
	}
	return callers, nil
}

// callAll lets each caller send the given number of requests.
func callAll(callers []*caller, each int) error {
	errs := make(chan error, len(callers))
	var all sync.WaitGroup
	for _, c := range callers {
		all.Go(func() {
			for range each {
				if err := c.call(); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(errs)
	return <-errs
}
