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

// growthMost limits how many times more an operation may cost in a large file.
const growthMost = 1.5

const stepsTail = "/steps"

// growth compares the cost of an operation in a small and in a large file.
type growth struct {
	name                 string
	label                string // what the operation does, such as "claim of 16"
	repeat               int    // operations on each side in a run
	smallName, largeName string
	small, large         func(*bench) contents
	open                 func(*fixture) (operation, error)
}

// operation is one that is measured on a file.
type operation interface {
	// prepare prepares the file for the given number of operations, and executes the first of them as a warm-up.
	prepare(ctx context.Context, repeat int) error
	// before is called before each operation, and not measured.
	before(ctx context.Context) error
	run(ctx context.Context) error
	// restore returns the file to its initial state.
	restore(ctx context.Context) error
	close() error
}

func (g growth) benchmark() benchmark {
	var bars []bar
	for _, tail := range []string{"", processorTail, stepsTail} {
		bars = append(bars, bar{
			caseName: g.name + tail, subject: g.largeName, against: g.smallName, most: growthMost, goal: tail == processorTail,
		})
	}
	return benchmark{cases: []string{g.name}, bars: bars, run: g.run, end: g.end}
}

// side is one of the two files.
type side struct {
	name      string
	fixture   *fixture
	operation operation
	walls     []float64 // µs, one per operation
	used      time.Duration
}

// sides returns the small and the large file.
func (g growth) sides(b *bench) ([]*side, error) {
	sides := []*side{{name: g.smallName}, {name: g.largeName}}
	var err error
	if sides[0].fixture, err = b.fixture(g.name+"-small", g.small(b)); err != nil {
		return nil, err
	}
	sides[1].fixture, err = b.fixture(g.name+"-large", g.large(b))
	return sides, err
}

// run executes the operation on both files in turns. It reports the median, because an operation that also writes a
// checkpoint takes longer.
func (g growth) run(b *bench) error {
	repeat := b.sized(g.repeat, 3)
	sides, err := g.sides(b)
	if err != nil {
		return err
	}
	for _, s := range sides {
		if s.operation, err = g.open(s.fixture); err != nil {
			return err
		}
		if err := s.operation.prepare(b.ctx, repeat+1); err != nil {
			return err
		}
	}
	order := slices.Clone(sides)
	for range repeat {
		for _, s := range order {
			if err := s.measure(b.ctx, g.name); err != nil {
				return err
			}
		}
		slices.Reverse(order)
	}
	return g.record(b, sides)
}

func (s *side) measure(ctx context.Context, caseName string) error {
	if err := s.operation.before(ctx); err != nil {
		return err
	}
	var took usage
	var err error
	pprof.Do(ctx, pprof.Labels("case", caseName, "subject", s.name), func(ctx context.Context) {
		err = took.measure(func() error { return s.operation.run(ctx) })
	})
	s.walls = append(s.walls, took.wall.Seconds()*1e6)
	s.used += took.processor
	return err
}

// record reports the figures and restores the files for the next run.
func (g growth) record(b *bench, sides []*side) error {
	for _, s := range sides {
		b.report.add(g.name, s.name, "median "+g.label, median(s.walls), "µs")
		each := s.used.Seconds() * 1e6 / float64(len(s.walls))
		b.report.add(g.name+processorTail, s.name, "processor time of a "+g.label, each, "µs")
		if err := s.operation.restore(b.ctx); err != nil {
			return err
		}
		if err := s.operation.close(); err != nil {
			return err
		}
	}
	return nil
}

// end counts and explains the steps of one operation on each side, and audits the files.
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
		b.report.add(g.name+stepsTail, s.name, "steps of SQLite's virtual machine in a "+g.label, float64(total), "steps")
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

// countSteps executes the operation on connections whose steps are counted.
func (g growth) countSteps(ctx context.Context, s *side) (map[string]int64, error) {
	machine, err := traceSteps(func() (err error) {
		s.operation, err = g.open(s.fixture)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer machine.close()
	if err := s.operation.prepare(ctx, 2); err != nil {
		return nil, err
	}
	if err := s.operation.before(ctx); err != nil {
		return nil, err
	}
	machine.take()
	if err := s.operation.run(ctx); err != nil {
		return nil, err
	}
	counted := machine.take()
	if err := s.operation.restore(ctx); err != nil {
		return nil, err
	}
	return counted, s.operation.close()
}

// explain prints the statements of an operation, the steps of each on both sides, and the query plans.
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
	b.report.explain(g.name+": the statements of one "+g.label, body.String())
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
