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

// The rows that make writes directly are equal to those of the commands.
func TestScheduleSetEqualsRowsOfPutSchedule(t *testing.T) {
	for name, c := range map[string]scheduleSet{"burst": burst(20), "rounds": rounds(fireGrowthSmall)} {
		direct, byCommands := filepath.Join(t.TempDir(), "direct.db"), filepath.Join(t.TempDir(), "commands.db")
		if err := c.make(direct); err != nil {
			t.Fatal(err)
		}
		if err := audit(t.Context(), direct, c.counts()); err != nil {
			t.Error(err)
		}
		if err := c.put(t.Context(), byCommands); err != nil {
			t.Fatal(err)
		}
		got, want := dump(t, direct, templateRows, scheduleRows, auditRows), dump(t, byCommands, templateRows, scheduleRows, auditRows)
		if got != want {
			t.Errorf("%s: written directly\n%.2000s\nwritten by commands\n%.2000s", name, got, want)
		}
		if strings.Count(got, "JOB_CREATED") != c.size {
			t.Errorf("%s: the audit does not have %d schedules", name, c.size)
		}
	}
}

// put creates the schedules by commands.
func (c scheduleSet) put(ctx context.Context, path string) error {
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

// The same number of schedules is due in every round, for every size, and those of a round are not adjacent in the
// order of names.
func TestRoundsHaveEqualNumbersOfFires(t *testing.T) {
	for _, size := range []int{fireGrowthSmall, 3 * fireGrowthSmall} {
		c := rounds(size)
		place := make([]int, c.size)
		for k, i := range c.byName() {
			place[i] = k
		}
		due := map[int]int{}
		dueFirst := map[int]bool{} // positions that are due in the first round
		adjacent := 0
		for i := range c.size {
			spec := c.spec(i)
			for at := spec.StartsAt; at.Before(c.from.Add(31 * roundTime)); at = at.Add(spec.Every) {
				due[int(at.Sub(c.from)/roundTime)]++
			}
			if spec.StartsAt.Before(c.from.Add(2 * roundTime)) {
				dueFirst[place[i]] = true
			}
		}
		for round := 1; round <= 30; round++ {
			if due[round] != roundFires {
				t.Errorf("of %d, %d are due in round %d", size, due[round], round)
			}
		}
		for k := range dueFirst {
			if dueFirst[k+1] {
				adjacent++
			}
		}
		if adjacent > roundFires/4 {
			t.Errorf("of %d, %d that are due lie side by side", size, adjacent)
		}
	}
}

// The raw engine writes the same rows as a fire of Rota.
func TestRawFireWritesSameRowsAsRota(t *testing.T) {
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

// Background jobs violate no invariant, and the blocked ones wait for their group.
func TestBackgroundJobsPassVerify(t *testing.T) {
	for _, c := range []background{thirds(10), thirds(1000), {foreign: 3}} {
		path := filepath.Join(t.TempDir(), "background.db")
		if err := c.make(path); err != nil {
			t.Fatal(err)
		}
		if err := audit(t.Context(), path, c.counts()); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
