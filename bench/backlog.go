package main

import (
	"context"
	"fmt"
	"maps"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
	driver "zombiezen.com/go/sqlite"
)

// growthMost is how much more a claim may cost with a crowd beside the queue.
const growthMost = 1.5

const stepsTail = "/steps"

// growth compares what a claim costs beside a small crowd and a large one.
type growth struct {
	name                 string
	small, large         crowd
	smallName, largeName string
}

const (
	backlogLarge = 1_000_000
	backlogSmall = 1_000
	foreignLarge = 100_000
)

func backlogBenchmarks() []benchmark {
	return []benchmark{
		growth{
			name: "claim/backlog", small: thirds(backlogSmall), large: thirds(backlogLarge),
			smallName: "1,000 beside", largeName: "1,000,000 beside",
		}.benchmark(),
		growth{
			name: "claim/foreign", large: crowd{foreign: foreignLarge},
			smallName: "none beside", largeName: "100,000 foreign",
		}.benchmark(),
	}
}

func (g growth) benchmark() benchmark {
	var bars []bar
	for _, tail := range []string{"", processorTail, stepsTail} {
		bars = append(bars, bar{
			caseName: g.name + tail, subject: g.largeName, against: g.smallName, most: growthMost, aim: tail == processorTail,
		})
	}
	return benchmark{cases: []string{g.name}, bars: bars, run: g.run, end: g.end}
}

const claimSize = 16

// run claims from both files in turns. The median claim is what counts, since
// one that also writes the log back is another thing.
func (g growth) run(b *bench) error {
	claims := b.sized(100, 3)
	small, large, err := g.fixtures(b)
	if err != nil {
		return err
	}
	return withStore(small.path, func(smallStore *sqlite.Store) error {
		return withStore(large.path, func(largeStore *sqlite.Store) error {
			sides := []*side{
				{name: g.smallName, fixture: small, store: smallStore},
				{name: g.largeName, fixture: large, store: largeStore},
			}
			for _, s := range sides {
				if err := s.prepare(b.ctx, claims+1); err != nil {
					return err
				}
			}
			order := slices.Clone(sides)
			for range claims {
				for _, s := range order {
					if err := s.claim(b.ctx, g.name); err != nil {
						return err
					}
				}
				slices.Reverse(order)
			}
			return g.record(b, sides)
		})
	})
}

func (g growth) fixtures(b *bench) (small, large *fixture, err error) {
	small, err = b.fixture(g.name+"-small", b.scaled(g.small))
	if err != nil {
		return nil, nil, err
	}
	large, err = b.fixture(g.name+"-large", b.scaled(g.large))
	return small, large, err
}

func (b *bench) scaled(c crowd) crowd {
	for _, n := range []*int{&c.delayed, &c.blocked, &c.finished, &c.foreign} {
		*n = b.sized(*n, 0)
	}
	return c
}

// side is one of the two files.
type side struct {
	name    string
	fixture *fixture
	store   *sqlite.Store
	jobs    []*rota.Job
	walls   []float64 // µs, one a claim
	used    time.Duration
}

// prepare puts in what will be claimed, and claims once to warm up.
func (s *side) prepare(ctx context.Context, claims int) error {
	if err := enqueueAll(ctx, s.store, claims*claimSize); err != nil {
		return err
	}
	s.fixture.want.completed += claims * claimSize
	jobs, err := claim(ctx, s.store, claimSize)
	s.jobs = jobs
	return err
}

func (s *side) claim(ctx context.Context, caseName string) (err error) {
	var took spent
	var jobs []*rota.Job
	pprof.Do(ctx, pprof.Labels("case", caseName, "subject", s.name), func(ctx context.Context) {
		err = took.measure(func() (err error) {
			jobs, err = claim(ctx, s.store, claimSize)
			return err
		})
	})
	s.jobs = append(s.jobs, jobs...)
	s.walls = append(s.walls, took.wall.Seconds()*1e6)
	s.used += took.processor
	return err
}

// record notes the figures, and finishes what was claimed, so that the next
// run finds the queue as this one did.
func (g growth) record(b *bench, sides []*side) error {
	for _, s := range sides {
		b.report.add(g.name, s.name, "median claim of 16", median(s.walls), "µs")
		each := s.used.Seconds() * 1e6 / float64(len(s.walls))
		b.report.add(g.name+processorTail, s.name, "processor time of a claim of 16", each, "µs")
		if err := finish(b.ctx, s.store, s.jobs); err != nil {
			return err
		}
	}
	return nil
}

// end counts the steps of one claim on each side, explains it, and audits the
// files.
func (g growth) end(b *bench) error {
	small, large, err := g.fixtures(b)
	if err != nil {
		return err
	}
	var counted [2]map[string]int64
	for i, s := range []*side{{name: g.smallName, fixture: small}, {name: g.largeName, fixture: large}} {
		if counted[i], err = s.countSteps(b.ctx); err != nil {
			return err
		}
		total := int64(0)
		for _, n := range counted[i] {
			total += n
		}
		b.report.add(g.name+stepsTail, s.name, "steps of SQLite's machine in a claim of 16", float64(total), "steps")
	}
	if err := g.explain(b, large, counted); err != nil {
		return err
	}
	for _, f := range []*fixture{small, large} {
		if err := audit(b.ctx, f.path, f.want); err != nil {
			return err
		}
	}
	return nil
}

// countSteps claims with a connection whose steps are counted.
func (s *side) countSteps(ctx context.Context) (map[string]int64, error) {
	machine, err := watchSteps(func() (err error) {
		s.store, err = sqlite.Open(s.fixture.path)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer machine.close()
	if err := s.prepare(ctx, 2); err != nil {
		return nil, err
	}
	machine.take()
	if err := s.claim(ctx, "steps"); err != nil {
		return nil, err
	}
	counted := machine.take()
	if err := finish(ctx, s.store, s.jobs); err != nil {
		return nil, err
	}
	return counted, s.store.Close()
}

// explain prints the statements of a claim, the steps each took on both sides,
// and the plans of those that read.
func (g growth) explain(b *bench, large *fixture, counted [2]map[string]int64) error {
	conn, err := driver.OpenConn(large.path, driver.OpenReadWrite)
	if err != nil {
		return err
	}
	defer conn.Close()
	var body strings.Builder
	for _, sql := range slices.Sorted(maps.Keys(counted[1])) {
		fmt.Fprintf(&body, "%d steps with %s, %d with %s:", counted[0][sql], g.smallName, counted[1][sql], g.largeName)
		fmt.Fprintf(&body, "\n  %s\n", strings.ReplaceAll(strings.TrimSpace(sql), "\n", "\n  "))
		plan, err := queryPlan(conn, sql)
		if err != nil {
			return err
		}
		body.WriteString(plan)
	}
	b.report.explain(g.name+": the statements of one claim of 16", body.String())
	return nil
}

func queryPlan(conn *driver.Conn, sql string) (string, error) {
	if !strings.HasPrefix(strings.TrimSpace(sql), "SELECT") {
		return "", nil
	}
	stmt, _, err := conn.PrepareTransient("EXPLAIN QUERY PLAN " + sql)
	if err != nil {
		return "", err
	}
	defer stmt.Finalize()
	var plan strings.Builder
	for {
		more, err := stmt.Step()
		if err != nil || !more {
			return plan.String(), err
		}
		fmt.Fprintln(&plan, "  plan:", stmt.ColumnText(3))
	}
}
