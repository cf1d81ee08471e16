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

// The subjects: a file with plain jobs only, and a file with schedules, groups and limits.
const (
	byItself = "plain"
	inMixed  = "mixed"
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
		{caseName: caseName, subject: inMixed, against: byItself, least: mixedShare},
		{caseName: caseName + processorTail, subject: byItself, against: inMixed, least: mixedShare, aim: true},
	}
}

// runMixedEnqueue runs the enqueue case in both files.
func runMixedEnqueue(b *bench) error {
	plain, crowded, err := b.mixedFiles()
	if err != nil {
		return err
	}
	return b.compare(mixedEnqueue,
		enqueueSubject(b, mixedEnqueue, byItself, plain, openRotaLoop),
		enqueueSubject(b, mixedEnqueue, inMixed, crowded, openRotaLoop))
}

// runMixed drains both files.
func (d drain) runMixed(b *bench) error {
	plain, crowded, err := b.mixedFiles()
	if err != nil {
		return err
	}
	var subjects []subject
	for _, s := range []struct {
		name  string
		start *fixture
	}{{byItself, plain}, {inMixed, crowded}} {
		full, err := d.fill(b, s.name, s.start)
		if err != nil {
			return err
		}
		defer b.drop(full.path)
		subjects = append(subjects, d.subject(b, s.name, full, openRotaLoop))
	}
	return b.compare(d.throughCase(), subjects...)
}

// mixedFiles are the two files to begin with.
func (b *bench) mixedFiles() (plain, crowded *fixture, err error) {
	if plain, err = b.empty(); err != nil {
		return nil, nil, err
	}
	crowded, err = b.fixture("company", relations{
		schedules: b.sized(10_000, 20), groups: b.sized(1000, 4), types: 100, keys: 100,
	})
	return plain, crowded, err
}

// relations is what others have in the file. Nothing of it is about the jobs that
// are measured.
type relations struct {
	schedules int
	groups    int // every other one sequential
	types     int // that have limits
	keys      int // of the groups' members, that have limits
}

const (
	mixedMembers = 10 // of a group
	mixedType    = "other"
)

func (c relations) counts() counts {
	sequential := (c.groups + 1) / 2
	return counts{queued: c.groups * mixedMembers, blocked: sequential * (mixedMembers - 1), schedules: c.schedules}
}

func (c relations) make(path string) error {
	hourly := calendar{
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

// sweepAll carries out what was decided, so that the file is at rest.
func sweepAll(ctx context.Context, store *sqlite.Store) error {
	for {
		reply, err := apply[*rota.Swept](ctx, store, &rota.Sweep{Meta: rota.NewMeta("")})
		if err != nil || !reply.More {
			return err
		}
	}
}

// throttle limits each type by number and by rate.
func (c relations) throttle() *rota.PutThrottle {
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

func (c relations) enqueueGroups(ctx context.Context, store *sqlite.Store) error {
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
