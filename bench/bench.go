package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
)

// benchmark makes the rows of one or more cases. Each call of run is one run
// of them all; the runs of different benchmarks interleave, so that a slow
// minute of the machine falls on all of them.
type benchmark struct {
	cases []string
	bars  []bar
	run   func(*bench) error
	end   func(*bench) error // after the last run: what is checked or explained once
	asked string             // a word that BENCH must hold: it takes too long to be run by the way
}

func allBenchmarks() []benchmark {
	return slices.Concat(
		enqueueBenchmarks(), claimBenchmarks(), concurrentBenchmarks(), rivalBenchmarks(), workBenchmarks(),
		backlogBenchmarks(), memoryBenchmarks(), burstBenchmarks(), fireGrowthBenchmarks(), mixedBenchmarks(),
		latencyBenchmarks(), dueBenchmarks(), idleBenchmarks(), httpBenchmarks(), awayBenchmarks(),
		pgBenchmarks(), sqlBenchmarks(), wireBenchmarks(),
	)
}

// bench is one invocation.
type bench struct {
	config
	ctx         context.Context
	dir         string // of this invocation's files
	round       int    // which run this is, from 0
	report      *report
	fixtures    map[string]*fixture
	server      *pgServer // nil until it is asked for
	history     *database // with much that is finished, likewise
	historyDone int       // of the jobs that were put into it since
}

func newBench(ctx context.Context, config config) (*bench, error) {
	dir, err := os.MkdirTemp(config.dir, "data-")
	if err != nil {
		return nil, err
	}
	disk, err := diskOf(dir)
	if err == nil && disk.memory && config.scale >= 1 {
		err = fmt.Errorf("%s is in memory, where syncing costs nothing; set BENCH_DIR to a directory on a disk", config.dir)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return &bench{
		config: config, ctx: ctx, dir: dir,
		report: newReport(config, disk), fixtures: map[string]*fixture{},
	}, nil
}

// measure runs the benchmarks that are asked for, and lists their bars.
func (b *bench) measure(all []benchmark) error {
	picked := slices.DeleteFunc(all, func(m benchmark) bool {
		return !slices.ContainsFunc(m.cases, b.pick.MatchString) || !strings.Contains(b.pick.String(), m.asked)
	})
	b.notePostgres()
	if len(picked) == 0 {
		return fmt.Errorf("no case matches %q", b.pick)
	}
	for b.round = range b.runs {
		for _, m := range picked {
			if err := b.measureOne(m); err != nil {
				return fmt.Errorf("%s, run %d: %w", m.cases[0], b.round+1, err)
			}
		}
	}
	for _, m := range picked {
		if m.end != nil {
			if err := m.end(b); err != nil {
				return fmt.Errorf("%s: %w", m.cases[0], err)
			}
		}
		b.report.bars = append(b.report.bars, m.bars...)
	}
	return nil
}

func (b *bench) measureOne(m benchmark) error {
	fmt.Fprintf(os.Stderr, "run %d of %d: %s\n", b.round+1, b.runs, m.cases[0])
	before, err := b.readProcessors()
	if err != nil {
		return err
	}
	fsync, err := fsyncTime(b.dir)
	if err != nil {
		return err
	}
	if err := m.run(b); err != nil {
		return err
	}
	after, err := b.readProcessors()
	if err != nil {
		return err
	}
	n := after.since(before)
	n.fsync = fsync
	for _, name := range m.cases {
		b.report.noteNoise(name, n)
	}
	return b.ctx.Err()
}

// readProcessors counts PostgreSQL's server as our own.
func (b *bench) readProcessors() (processors, error) {
	p, err := readProcessors()
	if err != nil {
		return p, err
	}
	used, err := b.server.processor()
	p.own += used
	return p, err
}

// subject is one of those that are compared in a case. Its work comes in
// parts, so that the parts of all subjects can take turns.
type subject struct {
	name  string
	open  func() error
	part  func(context.Context) error
	close func(context.Context) error // reports, and refuses work that was not done
}

// parts is how many parts a subject's work has in one run: enough for
// neighbours of the machine to trouble all subjects alike, and few enough for
// each to bear the collection of its own garbage.
const parts = 4

// compare runs the subjects of a case, part by part in turned order. Each part
// begins with the garbage of those before it collected.
func (b *bench) compare(caseName string, subjects ...subject) error {
	for _, s := range subjects {
		if err := s.open(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	order := slices.Clone(subjects)
	for range parts {
		for _, s := range order {
			runtime.GC()
			var err error
			labels := pprof.Labels("case", caseName, "subject", s.name)
			pprof.Do(b.ctx, labels, func(ctx context.Context) { err = s.part(ctx) })
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
		slices.Reverse(order)
	}
	for _, s := range subjects {
		if err := s.close(b.ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// file is the path of a file that serves one run of one case.
func (b *bench) file(name string) string {
	return filepath.Join(b.dir, fmt.Sprintf("%s-%d.db", strings.ReplaceAll(name, " ", "-"), b.round))
}

// drop removes a file that has served, with its log.
func (b *bench) drop(path string) {
	for _, tail := range []string{"", "-wal", "-shm", ".lock"} {
		_ = os.Remove(path + tail) // what is left goes with the directory
	}
}

// fixture is a file that serves all runs.
type fixture struct {
	path string
	want counts // what it is to hold when nothing is under way
}

// contents is what a fixture holds.
type contents interface {
	make(path string) error
	counts() counts
}

// fixture returns a file with something in it, made when it is first asked for.
func (b *bench) fixture(name string, c contents) (*fixture, error) {
	if f := b.fixtures[name]; f != nil {
		return f, nil
	}
	f := &fixture{path: filepath.Join(b.dir, strings.ReplaceAll(name, "/", "-")+".db"), want: c.counts()}
	b.fixtures[name] = f
	return f, c.make(f.path)
}

// empty is a store without a row.
func (b *bench) empty() (*fixture, error) { return b.fixture("empty", background{}) }
