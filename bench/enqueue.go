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
	batches, size := b.sized(10, 1), b.sized(1000, 10)
	explainRaw(b, "enqueue", rawBegin, rawInsert, "-- for each job", rawCommit)
	open := func(name string, open opener) subject {
		return enqueueSubject(b, name, open, batches, size)
	}
	return b.compare(enqueueCase, open("rota", openRotaEngine), open("raw", openRawEngine))
}

func enqueueSubject(b *bench, name string, open opener, batches, size int) subject {
	path, jobs := b.file("enqueue-"+name), parts*batches*size
	var e engine
	var took spent
	return subject{
		name: name,
		open: func() (err error) {
			if err = create(path); err == nil {
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
			b.report.addSpent(enqueueCase, name, jobs, took)
			return audit(ctx, path, counts{queued: jobs})
		},
	}
}
