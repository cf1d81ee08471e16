package main

import (
	"context"
	"fmt"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// mixedShare is the minimum fraction of the speed in a file that also has schedules, groups
// and limits.
const mixedShare = 0.9

const (
	mixedPrefix  = "mixed/"
	mixedEnqueue = mixedPrefix + enqueueCase
)

// The subjects: a file without other rows, and a file with schedules, groups and limits.
const (
	plainFile = "plain"
	mixedFile = "mixed"
)

func mixedBenchmarks() []benchmark {
	all := []benchmark{{cases: []string{mixedEnqueue}, bars: mixedBars(mixedEnqueue), run: runMixedEnqueue}}
	for _, d := range []drain{largeDrain, smallDrain} {
		d.prefix = mixedPrefix
		all = append(all, benchmark{
			cases: []string{d.throughCase(), d.claimCase(), d.finishCase()}, bars: mixedBars(d.throughCase()), run: d.runMixed,
		})
	}
	return all
}

func mixedBars(caseName string) []bar {
	return []bar{
		{caseName: caseName, subject: mixedFile, against: plainFile, least: mixedShare},
		{caseName: caseName + processorTail, subject: plainFile, against: mixedFile, least: mixedShare, goal: true},
	}
}

// runMixedEnqueue runs the enqueue case in both files.
func runMixedEnqueue(b *bench) error {
	plain, mixed, err := b.mixedFiles()
	if err != nil {
		return err
	}
	return b.compare(mixedEnqueue,
		enqueueSubject(b, mixedEnqueue, plainFile, plain, openRotaBatchQueue),
		enqueueSubject(b, mixedEnqueue, mixedFile, mixed, openRotaBatchQueue))
}

// runMixed drains both files.
func (d drain) runMixed(b *bench) error {
	plain, mixed, err := b.mixedFiles()
	if err != nil {
		return err
	}
	var subjects []subject
	for _, s := range []struct {
		name  string
		start *fixture
	}{{plainFile, plain}, {mixedFile, mixed}} {
		full, err := d.fill(b, s.name, s.start)
		if err != nil {
			return err
		}
		defer b.drop(full.path)
		subjects = append(subjects, d.subject(b, s.name, full, openRotaBatchQueue))
	}
	return b.compare(d.throughCase(), subjects...)
}

// mixedFiles returns the initial files of both subjects.
func (b *bench) mixedFiles() (plain, mixed *fixture, err error) {
	if plain, err = b.empty(); err != nil {
		return nil, nil, err
	}
	mixed, err = b.fixture("mixed", otherRows{
		schedules: b.sized(10_000, 20), groups: b.sized(1000, 4), types: 100, keys: 100,
	})
	return plain, mixed, err
}

// otherRows are the rows of the mixed file besides the measured jobs. None of them affects the measured jobs.
type otherRows struct {
	schedules int
	groups    int // half of them sequential
	types     int // types with limits
	keys      int // concurrency keys with limits, used by the members of groups
}

const (
	mixedMembers = 10 // members of a group
	mixedType    = "other"
)

func (c otherRows) counts() counts {
	sequential := (c.groups + 1) / 2
	return counts{queued: c.groups * mixedMembers, blocked: sequential * (mixedMembers - 1), schedules: c.schedules}
}

func (c otherRows) make(path string) error {
	hourly := scheduleSet{
		size: c.schedules, from: time.Now().UTC().Truncate(time.Second),
		spec: func(int) rota.ScheduleSpec { return rota.ScheduleSpec{Every: time.Hour} },
	}
	if err := hourly.make(path); err != nil {
		return err
	}
	return withStore(path, func(store *sqlite.Store) error {
		ctx := context.Background()
		if _, err := apply[*rota.ThrottlePut](ctx, store, c.throttle()); err != nil {
			return err
		}
		if err := c.enqueueGroups(ctx, store); err != nil {
			return err
		}
		return sweepAll(ctx, store)
	})
}

// sweepAll executes all intent records, so that no work is pending in the file.
func sweepAll(ctx context.Context, store *sqlite.Store) error {
	for {
		reply, err := apply[*rota.Swept](ctx, store, &rota.Sweep{Meta: rota.NewMeta("")})
		if err != nil || !reply.More {
			return err
		}
	}
}

// throttle returns the limits: concurrency and rate of each type, and concurrency of each key.
func (c otherRows) throttle() *rota.PutThrottle {
	put := &rota.PutThrottle{Meta: rota.NewMeta("")}
	for i := range c.types {
		put.Spec.Types = append(put.Spec.Types, rota.TypeLimit{
			Type: otherType(i), Concurrency: 10, Rate: rota.Rate{Count: 100, Per: time.Minute},
		})
	}
	for i := range c.keys {
		put.Spec.Keys = append(put.Spec.Keys, rota.KeyLimit{Key: otherKey(i), Concurrency: 5})
	}
	return put
}

func otherType(i int) string { return fmt.Sprintf("%s-%d", mixedType, i) }

func otherKey(i int) string { return fmt.Sprintf("key-%d", i) }

func (c otherRows) enqueueGroups(ctx context.Context, store *sqlite.Store) error {
	var batch rota.Batch
	for i := range c.groups {
		key := otherKey(i % c.keys)
		group := &rota.EnqueueGroup{Meta: rota.NewMeta(""), Mode: rota.GroupSequential}
		if i%2 == 1 {
			group.Mode = rota.GroupParallel
		}
		for range mixedMembers {
			job := rota.NewJob{Type: otherType(i % c.types), Params: []byte(paramsText()), ConcurrencyKey: &key}
			group.Jobs = append(group.Jobs, job)
		}
		batch.Commands = append(batch.Commands, group)
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
}
