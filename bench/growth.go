package main

import (
	"context"
	"fmt"
	"maps"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	driver "zombiezen.com/go/sqlite"
)

// growthMost is how much more an act may cost in a large file.
const growthMost = 1.5

const stepsTail = "/steps"

// growth compares what an act costs in a small file and in a large one.
type growth struct {
	name                 string
	act                  string // what is done, such as "claim of 16"
	acts                 int    // of each side in a run
	smallName, largeName string
	small, large         func(*bench) contents
	open                 func(*fixture) (actor, error)
}

// actor acts on one of the files.
type actor interface {
	// prepare makes ready for some acts, the first of which it does itself to
	// warm up.
	prepare(ctx context.Context, acts int) error
	// before is done before each act, and not measured.
	before(ctx context.Context) error
	act(ctx context.Context) error
	// settle leaves the file as it was found.
	settle(ctx context.Context) error
	close() error
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

// side is one of the two files.
type side struct {
	name    string
	fixture *fixture
	actor   actor
	walls   []float64 // µs, one an act
	used    time.Duration
}

// sides are the small one and the large one.
func (g growth) sides(b *bench) ([]*side, error) {
	sides := []*side{{name: g.smallName}, {name: g.largeName}}
	var err error
	if sides[0].fixture, err = b.fixture(g.name+"-small", g.small(b)); err != nil {
		return nil, err
	}
	sides[1].fixture, err = b.fixture(g.name+"-large", g.large(b))
	return sides, err
}

// run acts on both files in turns. The median act is what counts, since one
// that also writes the log back is another thing.
func (g growth) run(b *bench) error {
	acts := b.sized(g.acts, 3)
	sides, err := g.sides(b)
	if err != nil {
		return err
	}
	for _, s := range sides {
		if s.actor, err = g.open(s.fixture); err != nil {
			return err
		}
		if err := s.actor.prepare(b.ctx, acts+1); err != nil {
			return err
		}
	}
	order := slices.Clone(sides)
	for range acts {
		for _, s := range order {
			if err := s.act(b.ctx, g.name); err != nil {
				return err
			}
		}
		slices.Reverse(order)
	}
	return g.record(b, sides)
}

func (s *side) act(ctx context.Context, caseName string) error {
	if err := s.actor.before(ctx); err != nil {
		return err
	}
	var took spent
	var err error
	pprof.Do(ctx, pprof.Labels("case", caseName, "subject", s.name), func(ctx context.Context) {
		err = took.measure(func() error { return s.actor.act(ctx) })
	})
	s.walls = append(s.walls, took.wall.Seconds()*1e6)
	s.used += took.processor
	return err
}

// record notes the figures, and settles, so that the next run finds the files
// as this one did.
func (g growth) record(b *bench, sides []*side) error {
	for _, s := range sides {
		b.report.add(g.name, s.name, "median "+g.act, median(s.walls), "µs")
		each := s.used.Seconds() * 1e6 / float64(len(s.walls))
		b.report.add(g.name+processorTail, s.name, "processor time of a "+g.act, each, "µs")
		if err := s.actor.settle(b.ctx); err != nil {
			return err
		}
		if err := s.actor.close(); err != nil {
			return err
		}
	}
	return nil
}

// end counts the steps of one act on each side, explains it, and audits the
// files.
func (g growth) end(b *bench) error {
	sides, err := g.sides(b)
	if err != nil {
		return err
	}
	var counted [2]map[string]int64
	for i, s := range sides {
		if counted[i], err = g.countSteps(b.ctx, s); err != nil {
			return err
		}
		total := int64(0)
		for _, n := range counted[i] {
			total += n
		}
		b.report.add(g.name+stepsTail, s.name, "steps of SQLite's machine in a "+g.act, float64(total), "steps")
	}
	if err := g.explain(b, sides[1].fixture, counted); err != nil {
		return err
	}
	for _, s := range sides {
		if err := audit(b.ctx, s.fixture.path, s.fixture.want); err != nil {
			return err
		}
	}
	return nil
}

// countSteps acts with connections whose steps are counted.
func (g growth) countSteps(ctx context.Context, s *side) (map[string]int64, error) {
	machine, err := watchSteps(func() (err error) {
		s.actor, err = g.open(s.fixture)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer machine.close()
	if err := s.actor.prepare(ctx, 2); err != nil {
		return nil, err
	}
	if err := s.actor.before(ctx); err != nil {
		return nil, err
	}
	machine.take()
	if err := s.actor.act(ctx); err != nil {
		return nil, err
	}
	counted := machine.take()
	if err := s.actor.settle(ctx); err != nil {
		return nil, err
	}
	return counted, s.actor.close()
}

// explain prints the statements of an act, the steps each took on both sides,
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
	b.report.explain(g.name+": the statements of one "+g.act, body.String())
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
