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

// benchmark measures one or more cases. Each call of run is one run of all of them. The runs of different benchmarks
// interleave, so that a temporary slowdown of the machine affects all of them.
type benchmark struct {
	cases   []string
	bars    []bar
	run     func(*bench) error
	end     func(*bench) error // runs once after the last run, to check or explain the result
	keyword string             // word that BENCH must contain, for a benchmark that takes too long to run by default
}

func allBenchmarks() []benchmark {
	return slices.Concat(
		enqueueBenchmarks(), claimBenchmarks(), concurrentBenchmarks(), rivalBenchmarks(), workBenchmarks(),
		backlogBenchmarks(), memoryBenchmarks(), burstBenchmarks(), fireGrowthBenchmarks(), mixedBenchmarks(),
		latencyBenchmarks(), dueBenchmarks(), idleBenchmarks(), httpBenchmarks(), remoteBenchmarks(),
		pgBenchmarks(), sqlBenchmarks(), wireBenchmarks(), accessBenchmarks(), chainBenchmarks(), execBenchmarks(), dynamoBenchmarks(),
	)
}

// bench is the state of one invocation.
type bench struct {
	config
	ctx         context.Context
	dir         string // directory of the files of this invocation
	round       int    // number of the current run, from 0
	report      *report
	fixtures    map[string]*fixture
	server      *pgServer // nil until the first use
	history     *database // database with many finished jobs; nil until the first use
	historyDone int       // jobs finished in history since it was created
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

// measure runs the benchmarks that BENCH selects, and adds their bars to the report.
func (b *bench) measure(all []benchmark) error {
	picked := slices.DeleteFunc(all, func(m benchmark) bool {
		return !slices.ContainsFunc(m.cases, b.filter.MatchString) || !strings.Contains(b.filter.String(), m.keyword)
	})
	b.notePostgres()
	if len(picked) == 0 {
		return fmt.Errorf("no case matches %q", b.filter)
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
		b.report.addNoise(name, n)
	}
	return b.ctx.Err()
}

// readProcessors includes the processor time of the PostgreSQL server in our own.
func (b *bench) readProcessors() (processors, error) {
	p, err := readProcessors()
	if err != nil {
		return p, err
	}
	used, err := b.server.processor()
	p.own += used
	return p, err
}

// subject is one of the systems or variants that a case compares. Its work is split into parts, so that the parts of
// all subjects run in turns.
type subject struct {
	name  string
	open  func() error
	part  func(context.Context) error
	close func(context.Context) error // reports the figures, and fails if work was not done
}

// parts is the number of parts of a subject's work in one run. There are enough of them that noise of the machine
// affects all subjects equally, and few enough that each part includes its own garbage collections.
const parts = 4

// compare runs the subjects of a case, part by part, in an order that reverses with each part. It collects garbage
// before each part.
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

// file returns the path of a file for one run of one case.
func (b *bench) file(name string) string {
	return filepath.Join(b.dir, fmt.Sprintf("%s-%d.db", strings.ReplaceAll(name, " ", "-"), b.round))
}

// drop removes a file and its log.
func (b *bench) drop(path string) {
	for _, tail := range []string{"", "-wal", "-shm", ".lock"} {
		_ = os.Remove(path + tail) // the rest is removed with the directory
	}
}

// fixture is a file that all runs use.
type fixture struct {
	path string
	want counts // expected rows while no benchmark runs
}

// contents is the initial content of a fixture.
type contents interface {
	make(path string) error
	counts() counts
}

// fixture returns the file of the given name. It creates the file at the first call.
func (b *bench) fixture(name string, c contents) (*fixture, error) {
	if f := b.fixtures[name]; f != nil {
		return f, nil
	}
	f := &fixture{path: filepath.Join(b.dir, strings.ReplaceAll(name, "/", "-")+".db"), want: c.counts()}
	b.fixtures[name] = f
	return f, c.make(f.path)
}

// empty returns a store without rows.
func (b *bench) empty() (*fixture, error) { return b.fixture("empty", background{}) }
