package main

import "context"

// rawShare is the part of the engine's speed that is to be left when Rota has
// kept its law.
const rawShare = 0.7

const enqueueCase = "enqueue/1000"

func enqueueBenchmarks() []benchmark {
	return []benchmark{{
		cases: []string{enqueueCase},
		bars:  rawBars(enqueueCase),
		run:   runEnqueue,
	}}
}

// rawBars holds Rota to its share of the raw engine by the clock, and shows
// it by processor time too.
func rawBars(caseName string) []bar {
	return []bar{
		{caseName: caseName, subject: "rota", against: "raw", least: rawShare},
		{caseName: caseName + processorTail, subject: "raw", against: "rota", least: rawShare, aim: true},
	}
}

// runEnqueue enqueues batches of 1,000 jobs, a command and a commit each.
func runEnqueue(b *bench) error {
	f, err := b.empty()
	if err != nil {
		return err
	}
	explainRaw(b, "enqueue", rawBegin, rawInsert, "-- for each job", rawCommit)
	return b.compare(enqueueCase,
		enqueueSubject(b, enqueueCase, "rota", f, openRotaLoop), enqueueSubject(b, enqueueCase, "raw", f, openRawLoop))
}

// enqueueSubject enqueues into a copy of a file.
func enqueueSubject(b *bench, caseName, name string, start *fixture, open opener) subject {
	batches, size := b.sized(10, 1), b.sized(1000, 10)
	path, jobs := b.file("enqueue-"+name), parts*batches*size
	var e loop
	var took spent
	return subject{
		name: name,
		open: func() (err error) {
			if err = copyFile(start.path, path); err == nil {
				e, err = open(path, size)
			}
			return err
		},
		part: func(ctx context.Context) error {
			for range batches {
				if err := took.measure(func() error { return e.enqueue(ctx) }); err != nil {
					return err
				}
			}
			return nil
		},
		close: func(ctx context.Context) error {
			defer b.drop(path)
			if err := e.close(); err != nil {
				return err
			}
			b.report.addSpent(caseName, name, jobs, took)
			return audit(ctx, path, start.want.plus(counts{queued: jobs}))
		},
	}
}
