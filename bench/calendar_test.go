package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// A calendar that was written past the store is the one that the commands make.
func TestCalendarIsWhatPutScheduleWrites(t *testing.T) {
	for name, c := range map[string]calendar{"burst": burst(20), "rounds": rounds(fireGrowthSmall)} {
		past, through := filepath.Join(t.TempDir(), "past.db"), filepath.Join(t.TempDir(), "through.db")
		if err := c.make(past); err != nil {
			t.Fatal(err)
		}
		if err := audit(t.Context(), past, c.counts()); err != nil {
			t.Error(err)
		}
		if err := c.put(t.Context(), through); err != nil {
			t.Fatal(err)
		}
		got, want := dump(t, past, templateRows, scheduleRows, auditRows), dump(t, through, templateRows, scheduleRows, auditRows)
		if got != want {
			t.Errorf("%s: past the store stands\n%.2000s\nthrough it\n%.2000s", name, got, want)
		}
		if strings.Count(got, "JOB_CREATED") != c.size {
			t.Errorf("%s: the audit does not tell of %d schedules", name, c.size)
		}
	}
}

// put declares the schedules by commands.
func (c calendar) put(ctx context.Context, path string) error {
	return withStore(path, func(store *sqlite.Store) error {
		batch := rota.Batch{Now: c.from, Commands: []rota.Command{c.template()}}
		for _, i := range c.byName() {
			put, err := c.declare(i)
			if err != nil {
				return err
			}
			batch.Commands = append(batch.Commands, put)
		}
		results, err := store.Apply(ctx, batch)
		if err != nil {
			return err
		}
		for _, r := range results {
			if r.Err != nil {
				return r.Err
			}
		}
		return nil
	})
}

// In every round as many schedules are due, whatever the size, and they do not
// come one after the other in the order of names.
func TestRoundsHaveTheSameSize(t *testing.T) {
	for _, size := range []int{fireGrowthSmall, 3 * fireGrowthSmall} {
		c := rounds(size)
		place := make([]int, c.size)
		for k, i := range c.byName() {
			place[i] = k
		}
		due := map[int]int{}
		side := map[int]bool{} // places that are due in the first round
		neighbours := 0
		for i := range c.size {
			spec := c.spec(i)
			for at := spec.StartsAt; at.Before(c.from.Add(31 * roundTime)); at = at.Add(spec.Every) {
				due[int(at.Sub(c.from)/roundTime)]++
			}
			if spec.StartsAt.Before(c.from.Add(2 * roundTime)) {
				side[place[i]] = true
			}
		}
		for round := 1; round <= 30; round++ {
			if due[round] != roundSize {
				t.Errorf("of %d, %d are due in round %d", size, due[round], round)
			}
		}
		for k := range side {
			if side[k+1] {
				neighbours++
			}
		}
		if neighbours > roundSize/4 {
			t.Errorf("of %d, %d that are due lie side by side", size, neighbours)
		}
	}
}

// The raw engine changes the rows that a fire changes, to the same values.
func TestRawFiresWhatRotaFires(t *testing.T) {
	full := filepath.Join(t.TempDir(), "burst.db")
	if err := burst(3).make(full); err != nil {
		t.Fatal(err)
	}
	due, err := firstFire(t.Context(), full)
	if err != nil {
		t.Fatal(err)
	}
	now := due.Add(time.Second)
	var dumps []string
	for _, open := range []func(string) (firer, error){
		func(path string) (firer, error) { return openRotaFirer(path, now) },
		func(path string) (firer, error) { return openRawFirer(path, now) },
	} {
		path := filepath.Join(t.TempDir(), "fired.db")
		if err := copyFile(full, path); err != nil {
			t.Fatal(err)
		}
		e, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		if fired, err := e.fire(t.Context(), 2); err != nil || fired != 2 {
			t.Fatal(fired, err)
		}
		if err := e.close(); err != nil {
			t.Fatal(err)
		}
		dumps = append(dumps, dump(t, path, jobRows, scheduleRows, auditRows))
	}
	if dumps[0] != dumps[1] {
		t.Errorf("rota wrote\n%s\nraw wrote\n%s", dumps[0], dumps[1])
	}
	if strings.Count(dumps[0], "plan_time=1") != 2 {
		t.Errorf("rota wrote\n%s", dumps[0])
	}
}

// Background jobs break no invariant, and the blocked ones wait for their turn.
func TestBackgroundJobsBreakNoInvariant(t *testing.T) {
	for _, c := range []background{thirds(10), thirds(1000), {foreign: 3}} {
		path := filepath.Join(t.TempDir(), "crowd.db")
		if err := c.make(path); err != nil {
			t.Fatal(err)
		}
		if err := audit(t.Context(), path, c.counts()); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
