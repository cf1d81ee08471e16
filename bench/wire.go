package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

const (
	wireCase    = "sql/wire"
	wireCallers = 50
	wireEach    = 40  // definitions of a caller in a part
	wireLeast   = 0.7 // of the rate of the store in process
)

const (
	wireOf  = "CREATE JOB on the SQL port"
	storeOf = "the store, in process"
)

func wireBenchmarks() []benchmark {
	return []benchmark{{
		cases: []string{wireCase},
		bars:  []bar{{caseName: wireCase, subject: wireOf, against: storeOf, least: wireLeast}},
		run:   runWire,
	}}
}

// runWire creates the same jobs in both ways, with the same number of concurrent callers.
func runWire(b *bench) error {
	b.report.explain(wireCase+": what is timed", fmt.Sprintf(
		"%d concurrent callers, each creating one job at a time: a template and a schedule in one command, answered after the sync.\n"+
			"%q is a server in a separate process, over persistent connections, in the simple protocol. %q shares commits as a server does.",
		wireCallers, wireOf, storeOf))
	return b.compare(wireCase, wireSubject(b), wireStoreSubject(b))
}

// concurrently runs the callers at the same time, each with its number.
func concurrently(callers int, work func(caller int) error) error {
	errs := make(chan error, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			if err := work(i); err != nil {
				errs <- err
			}
		})
	}
	all.Wait()
	close(errs)
	return <-errs
}

func wireSubject(b *bench) subject {
	path, each, part := b.file("wire"), b.sized(wireEach, 2), 0
	var s *server
	var conns []*pgconn.PgConn
	var took usage
	return subject{
		name: wireOf,
		open: func() (err error) {
			if s, err = b.serve("wire", path); err != nil {
				return err
			}
			conns = make([]*pgconn.PgConn, wireCallers)
			return concurrently(wireCallers, func(i int) (err error) {
				conns[i], err = pgconn.Connect(b.ctx, fmt.Sprintf("postgres://admin:%s@%s/rota?sslmode=disable", s.token, s.sql))
				return err
			})
		},
		part: func(ctx context.Context) error {
			part++
			return took.measure(func() error {
				return concurrently(wireCallers, func(i int) error {
					for k := range each {
						text := fmt.Sprintf("CREATE JOB w%d_%d_%d SCHEDULE = EVERY 1 HOUR AS 'SELECT 1'", part, i, k)
						if _, err := conns[i].Exec(ctx, text).ReadAll(); err != nil {
							return err
						}
					}
					return nil
				})
			})
		},
		close: func(ctx context.Context) error {
			defer b.drop(path)
			for _, c := range conns {
				_ = c.Close(ctx)
			}
			if err := s.stop(); err != nil {
				return err
			}
			declared := parts * wireCallers * each
			b.report.addUsage(wireCase, wireOf, declared, took)
			return audit(ctx, path, counts{schedules: declared})
		},
	}
}

func wireStoreSubject(b *bench) subject {
	path, each, part := b.file("wire-store"), b.sized(wireEach, 2), 0
	var inner *sqlite.Store
	var took usage
	return subject{
		name: storeOf,
		open: func() (err error) {
			inner, err = sqlite.Open(path)
			return err
		},
		part: func(ctx context.Context) error {
			part++
			store := wrap.Coalesce(inner)
			return took.measure(func() error {
				return concurrently(wireCallers, func(i int) error {
					for k := range each {
						if err := declareJob(ctx, store, fmt.Sprintf("w%d_%d_%d", part, i, k)); err != nil {
							return err
						}
					}
					return nil
				})
			})
		},
		close: func(ctx context.Context) error {
			defer b.drop(path)
			if err := inner.Close(); err != nil {
				return err
			}
			declared := parts * wireCallers * each
			b.report.addUsage(wireCase, storeOf, declared, took)
			return audit(ctx, path, counts{schedules: declared})
		},
	}
}

// declareJob sends the same command as CREATE JOB.
func declareJob(ctx context.Context, store rota.Store, name string) error {
	put, err := rota.Declare(rota.NewMeta("admin"), name, rota.ScheduleSpec{Template: name, Every: time.Hour}, time.Now())
	if err != nil {
		return err
	}
	put.Mode = rota.PutCreate
	template := &rota.PutTemplate{
		Meta: rota.NewMeta("admin"), Name: name, Mode: rota.PutCreate,
		Spec: rota.TemplateSpec{Type: "sql", Params: []byte(`{"statement":"SELECT 1"}`)},
	}
	_, err = rota.Do[*rota.AllDone](ctx, store, &rota.All{Meta: rota.NewMeta("admin"), Members: []rota.Command{template, put}})
	return err
}
