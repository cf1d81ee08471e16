package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

const (
	memoryCase = "memory/million"
	memoryMost = 100 // MB, highest resident memory
)

// childEnv names the file that a child process opens.
const childEnv = "ROTA_BENCH_CHILD"

func memoryBenchmarks() []benchmark {
	bars := []bar{{caseName: memoryCase, subject: "rota", most: memoryMost}}
	return []benchmark{{cases: []string{memoryCase}, bars: bars, run: runMemory, end: endMemory}}
}

// memoryUse is the memory of a process, in bytes.
type memoryUse struct{ Resident, Highest, Heap int64 }

// What the child does with the store before it measures its memory.
const (
	childTurns = 50
	childPages = 20
)

// runMemory opens a store with a million jobs in a separate process.
func runMemory(b *bench) error {
	f, err := b.million()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.CommandContext(b.ctx, self)
	child.Env = append(os.Environ(), childEnv+"="+f.path)
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		return err
	}
	f.want.completed += childTurns * claimSize
	var use memoryUse
	if err := json.Unmarshal(out, &use); err != nil {
		return err
	}
	for _, one := range []struct {
		tail, metric string
		bytes        int64
	}{{"", "highest resident memory", use.Highest}, {"/resident", "resident memory", use.Resident}, {"/heap", "Go heap", use.Heap}} {
		b.report.add(memoryCase+one.tail, "rota", one.metric, float64(one.bytes)/1e6, "MB")
	}
	return nil
}

func endMemory(b *bench) error {
	f, err := b.million()
	if err != nil {
		return err
	}
	return audit(b.ctx, f.path, f.want)
}

// million returns the file that claim/backlog uses too.
func (b *bench) million() (*fixture, error) {
	return b.fixture("claim/backlog-large", b.scaled(thirds(backlogLarge)))
}

// memoryChild claims, finishes and reads jobs, then prints its memory use.
func memoryChild(path string) error {
	return withStore(path, func(store *sqlite.Store) error {
		ctx := context.Background()
		if err := useStore(ctx, store); err != nil {
			return err
		}
		use, err := readMemory()
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(use)
	})
}

func useStore(ctx context.Context, store *sqlite.Store) error {
	if err := enqueueAll(ctx, store, childTurns*claimSize); err != nil {
		return err
	}
	for range childTurns {
		jobs, err := claim(ctx, store, claimSize)
		if err != nil {
			return err
		}
		if err := finish(ctx, store, jobs); err != nil {
			return err
		}
	}
	if _, err := store.NextDue(ctx); err != nil {
		return err
	}
	return readPages(ctx, store)
}

func readPages(ctx context.Context, store *sqlite.Store) error {
	query := rota.JobQuery{Limit: rota.PageMax}
	for range childPages {
		jobs, err := store.Jobs(ctx, query)
		if err != nil {
			return err
		}
		if len(jobs) == 0 {
			return nil
		}
		query.Before = jobs[len(jobs)-1].ID
		if _, err := store.Job(ctx, query.Before); err != nil {
			return err
		}
	}
	return nil
}

func readMemory() (use memoryUse, err error) {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	use.Heap = int64(stats.HeapInuse)
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return use, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		for name, into := range map[string]*int64{"VmRSS:": &use.Resident, "VmHWM:": &use.Highest} {
			text, found := strings.CutPrefix(lines.Text(), name)
			if !found {
				continue
			}
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(text, " kB")), 10, 64)
			if err != nil {
				return use, fmt.Errorf("/proc/self/status: %w", err)
			}
			*into = kib << 10
		}
	}
	return use, nil
}
