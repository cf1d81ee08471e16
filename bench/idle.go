package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

const (
	idleCase = "idle/cpu"
	idleSize = 100_000 // schedules
	idleFor  = 20 * time.Second
	idleMost = 0.5 // percent of a core
)

func idleBenchmarks() []benchmark {
	return []benchmark{{
		cases: []string{idleCase},
		bars:  []bar{{caseName: idleCase, subject: "rota", most: idleMost}},
		run:   runIdle, end: endIdle,
	}}
}

// notDue returns schedules of which none is due within an hour.
func notDue(size int) scheduleSet {
	from := time.Now().UTC()
	return scheduleSet{size: size, from: from, spec: func(i int) rota.ScheduleSpec {
		first := from.Add(time.Hour + time.Duration(i%3600)*time.Second)
		return rota.ScheduleSpec{Every: 2 * time.Hour, StartsAt: first}
	}}
}

func (b *bench) notDue() (*fixture, error) {
	return b.fixture(idleCase, notDue(b.sized(idleSize, 100)))
}

// runIdle measures the processor time of a server that has many schedules, none of which is due.
func runIdle(b *bench) error {
	f, err := b.notDue()
	if err != nil {
		return err
	}
	s, err := b.serve("idle", f.path)
	if err != nil {
		return err
	}
	percent, err := s.processorPercent(b.sized(int(idleFor.Milliseconds()), 200))
	if err := errors.Join(err, s.stop()); err != nil {
		return err
	}
	b.report.add(idleCase, "rota", "processor time of a server with nothing due", percent, "% of a core")
	return nil
}

func endIdle(b *bench) error {
	f, err := b.notDue()
	if err != nil {
		return err
	}
	return audit(b.ctx, f.path, f.want)
}

// processorPercent returns the processor time of the server during the given number of milliseconds, in percent of a
// core. It first waits until the server has finished its start.
func (s *server) processorPercent(ms int) (percent float64, err error) {
	span := time.Duration(ms) * time.Millisecond
	time.Sleep(span / 10)
	before, err := processorOf(s.child.Process.Pid)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	time.Sleep(span)
	after, err := processorOf(s.child.Process.Pid)
	return 100 * (after - before).Seconds() / time.Since(begun).Seconds(), err
}

// processorOf returns the processor time of another process so far. It adds up its threads, because their times have a
// resolution of nanoseconds instead of ticks.
func processorOf(pid int) (used time.Duration, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("/proc has no threads of process %d", pid)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // the thread has ended
		}
		first, _, _ := strings.Cut(string(text), " ")
		ns, parseErr := strconv.ParseInt(first, 10, 64)
		if err := errors.Join(err, parseErr); err != nil {
			return 0, err
		}
		used += time.Duration(ns)
	}
	return used, err
}
