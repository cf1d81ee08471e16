package main

import (
	"context"
	"fmt"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// companyShare is the part of its speed that is to be left in a file where
// others have schedules, groups and limits.
const companyShare = 0.9

const (
	companyPrefix  = "company/"
	companyEnqueue = companyPrefix + enqueueCase
)

// The subjects: a file with nothing else in it, and one with everything.
const (
	byItself  = "plain"
	inCompany = "in company"
)

func companyBenchmarks() []benchmark {
	all := []benchmark{{cases: []string{companyEnqueue}, bars: companyBars(companyEnqueue), run: runCompanyEnqueue}}
	for _, d := range []drain{largeDrain, smallDrain} {
		d.prefix = companyPrefix
		all = append(all, benchmark{
			cases: []string{d.throughCase(), d.claimCase(), d.finishCase()}, bars: companyBars(d.throughCase()), run: d.runCompany,
		})
	}
	return all
}

func companyBars(caseName string) []bar {
	return []bar{
		{caseName: caseName, subject: inCompany, against: byItself, least: companyShare},
		{caseName: caseName + processorTail, subject: byItself, against: inCompany, least: companyShare, aim: true},
	}
}

// runCompanyEnqueue is runEnqueue in both files.
func runCompanyEnqueue(b *bench) error {
	plain, crowded, err := b.companies()
	if err != nil {
		return err
	}
	return b.compare(companyEnqueue,
		enqueueSubject(b, companyEnqueue, byItself, plain, openRotaLoop),
		enqueueSubject(b, companyEnqueue, inCompany, crowded, openRotaLoop))
}

// runCompany drains both files.
func (d drain) runCompany(b *bench) error {
	plain, crowded, err := b.companies()
	if err != nil {
		return err
	}
	var subjects []subject
	for _, s := range []struct {
		name  string
		start *fixture
	}{{byItself, plain}, {inCompany, crowded}} {
		full, err := d.fill(b, s.name, s.start)
		if err != nil {
			return err
		}
		defer b.drop(full.path)
		subjects = append(subjects, d.subject(b, s.name, full, openRotaLoop))
	}
	return b.compare(d.throughCase(), subjects...)
}

// companies are the two files to begin with.
func (b *bench) companies() (plain, crowded *fixture, err error) {
	if plain, err = b.empty(); err != nil {
		return nil, nil, err
	}
	crowded, err = b.fixture("company", company{
		schedules: b.sized(10_000, 20), groups: b.sized(1000, 4), types: 100, keys: 100,
	})
	return plain, crowded, err
}

// company is what others have in the file. Nothing of it is about the jobs that
// are measured.
type company struct {
	schedules int
	groups    int // every other one sequential
	types     int // that have limits
	keys      int // of the groups' members, that have limits
}

const (
	companyMembers = 10 // of a group
	companyType    = "other"
)

func (c company) counts() counts {
	sequential := (c.groups + 1) / 2
	return counts{queued: c.groups * companyMembers, blocked: sequential * (companyMembers - 1), schedules: c.schedules}
}

func (c company) make(path string) error {
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
func (c company) throttle() *rota.PutThrottle {
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

func otherType(i int) string { return fmt.Sprintf("%s-%d", companyType, i) }

func otherKey(i int) string { return fmt.Sprintf("key-%d", i) }

func (c company) enqueueGroups(ctx context.Context, store *sqlite.Store) error {
	var batch rota.Batch
	for i := range c.groups {
		key := otherKey(i % c.keys)
		group := &rota.EnqueueGroup{Meta: rota.NewMeta(""), Mode: rota.GroupSequential}
		if i%2 == 1 {
			group.Mode = rota.GroupParallel
		}
		for range companyMembers {
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
